"""What Sui asks of a module beyond being well formed, before it is published.

Source: `sui-protocol-config` (protocol versions 38 and later), `check_no_extraneous_bytes` in
`move-binary-format/src/deserializer.rs`, and the duplication and definition checks of
`move-bytecode-verifier`. Its types and borrows are verified afterwards, when the modules that it
depends on are known.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence

from nexus_tools.localnet.bytecode.limits import VERSION_6
from nexus_tools.localnet.bytecode.module import CompiledModule, FieldDefinition
from nexus_tools.localnet.bytecode.opcode import Opcode

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
_UNIQUE_TABLES = (
    "identifiers",
    "addresses",
    "constants",
    "signatures",
    "module_handles",
    "friends",
    "function_instantiations",
    "struct_instantiations",
    "field_handles",
    "field_instantiations",
    "enum_instantiations",
    "variant_handles",
)
_DEPRECATED = frozenset(opcode for opcode in Opcode if opcode.name.endswith("_DEPRECATED"))
_LAST_INSTRUCTIONS = frozenset({Opcode.RET, Opcode.ABORT, Opcode.BRANCH, Opcode.VARIANT_SWITCH})


class UnpublishableModule(Exception):  # noqa: N818 - it says what the module is
    """A well-formed module that Sui does not let anyone publish."""


def check_publishable(module: CompiledModule) -> None:
    """Raise `UnpublishableModule` if the module breaks a rule of this file."""
    _check_limits(module)
    _check_unique(module)
    _check_definitions(module)
    _check_code(module)


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


def _check_unique(module: CompiledModule) -> None:
    for table in _UNIQUE_TABLES:
        _refuse_twice(getattr(module, table), table)
    datatypes = [(row.module, row.name) for row in module.datatype_handles]
    functions = [(row.module, row.name) for row in module.function_handles]
    _refuse_twice(datatypes, "datatype_handles")
    _refuse_twice(functions, "function_handles")
    _refuse_twice(_defined_datatypes(module), "datatype definitions")
    _refuse_twice([row.handle for row in module.function_definitions], "function definitions")
    for enum in module.enum_definitions:
        _refuse_twice([variant.name for variant in enum.variants], "the variants of an enum")
    for fields in _all_fields(module):
        _refuse_twice([field.name for field in fields], "the fields of a datatype")


def _refuse_twice(rows: Iterable[Hashable], table: str) -> None:
    rows = list(rows)
    if len(set(rows)) != len(rows):
        raise UnpublishableModule(f"a row occurs twice in {table}")


def _all_fields(module: CompiledModule) -> Iterator[Sequence[FieldDefinition]]:
    """The fields of each struct and of each variant of an enum."""
    for struct in module.struct_definitions:
        yield struct.fields or ()
    for enum in module.enum_definitions:
        for variant in enum.variants:
            yield variant.fields


def _defined_datatypes(module: CompiledModule) -> list[int]:
    structs = [row.handle for row in module.struct_definitions]
    return structs + [row.handle for row in module.enum_definitions]


def _check_definitions(module: CompiledModule) -> None:
    """A module defines what its own handles name, all of it, and nothing native."""
    datatypes = set(_defined_datatypes(module))
    own_datatypes = {
        index
        for index, row in enumerate(module.datatype_handles)
        if row.module == module.self_handle
    }
    functions = {row.handle for row in module.function_definitions}
    own_functions = {
        index
        for index, row in enumerate(module.function_handles)
        if row.module == module.self_handle
    }
    if datatypes != own_datatypes or functions != own_functions:
        raise UnpublishableModule("definitions and handles of the module do not match")
    if any(row.fields is None for row in module.struct_definitions):
        raise UnpublishableModule("a struct is native")
    if any(row.fields == () for row in module.struct_definitions):
        raise UnpublishableModule("a struct has no fields")
    if any(row.code is None for row in module.function_definitions):
        raise UnpublishableModule("a function is native")


def _check_code(module: CompiledModule) -> None:
    for function in module.function_definitions:
        instructions = function.code.instructions if function.code else ()
        name = module.function_id(function.handle)[2]
        if not instructions or instructions[-1].opcode not in _LAST_INSTRUCTIONS:
            raise UnpublishableModule(f"the code of {name} runs past its end")
        if not _DEPRECATED.isdisjoint(instruction.opcode for instruction in instructions):
            raise UnpublishableModule(f"the code of {name} uses global storage")
