"""What Sui asks of a module beyond being well formed, before it is verified.

Source: `sui-protocol-config` (protocol versions 38 and later), `check_no_extraneous_bytes` in
`move-binary-format/src/deserializer.rs`; natives are the framework's alone.
"""

from nexus_tools.localnet.bytecode.limits import VERSION_6
from nexus_tools.localnet.bytecode.module import CompiledModule

IDENTIFIER_LENGTH_MAX = 128
# `binary_*` of the protocol: how many rows each table may have.
_ROWS_MAX = {
    "module_handles": 100,
    "datatype_handles": 300,
    "function_handles": 1_500,
    "function_instantiations": 750,
    "signatures": 1_000,
    "constants": 4_000,
    "identifiers": 10_000,
    "addresses": 100,
    "struct_definitions": 200,
    "struct_instantiations": 100,
    "function_definitions": 1_000,
    "field_handles": 500,
    "field_instantiations": 250,
    "friends": 100,
}


class UnpublishableModule(Exception):  # noqa: N818 - it says what the module is
    """A well-formed module that Sui does not let anyone publish."""


def check_publishable(module: CompiledModule) -> None:
    """Raise `UnpublishableModule` if the module breaks a rule of this file."""
    _check_limits(module)
    _check_not_native(module)


def _check_limits(module: CompiledModule) -> None:
    if module.version < VERSION_6:
        raise UnpublishableModule(f"version {module.version} of the format is too old")
    if module.metadata:
        raise UnpublishableModule("the module carries metadata")
    for table, maximum in _ROWS_MAX.items():
        if len(getattr(module, table)) > maximum:
            raise UnpublishableModule(f"the module has more than {maximum} {table}")
    for identifier in module.identifiers:
        if len(identifier) > IDENTIFIER_LENGTH_MAX:
            raise UnpublishableModule(f"the name {identifier[:16]}... is too long")


def _check_not_native(module: CompiledModule) -> None:
    if any(row.fields is None for row in module.struct_definitions):
        raise UnpublishableModule("a struct is native")
    if any(row.code is None for row in module.function_definitions):
        raise UnpublishableModule("a function is native")
