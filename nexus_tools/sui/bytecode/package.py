"""The publication of modules: Sui's requirements, the new address, and the package digest.

These checks are for well-formed modules, before they are verified. Source: `sui-protocol-config`
(protocol versions 38 and later), `check_no_extraneous_bytes` in
`move-binary-format/src/deserializer.rs`. Only the framework may have natives.
"""

import hashlib
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from nexus_tools.sui.bytecode.format.deserializer import deserialize, own_address
from nexus_tools.sui.bytecode.format.file_format import VERSION_6, TableKind
from nexus_tools.sui.bytecode.format.header import read_header
from nexus_tools.sui.bytecode.module import CompiledModule
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage

INIT = "init"
"""The name of the function that is called when its module is first published."""

IDENTIFIER_LENGTH_MAX = 128
# The maximum number of rows of each table, `binary_*` of the protocol.
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


class UnpublishableModule(Exception):  # noqa: N818 - the name states the cause
    """A well-formed module that Sui does not allow to be published."""


def check_publishable(module: CompiledModule) -> None:
    """Raise `UnpublishableModule` if the module violates a rule of this file."""
    _check_limits(module)
    _check_not_native(module)


def _check_limits(module: CompiledModule) -> None:
    if module.version < VERSION_6:
        raise UnpublishableModule(f"version {module.version} of the format is too old")
    if module.metadata:
        raise UnpublishableModule("the module contains metadata")
    for table, maximum in _ROWS_MAX.items():
        if len(getattr(module, table)) > maximum:
            raise UnpublishableModule(f"the module has more than {maximum} {table}")
    for identifier in module.identifiers:
        if len(identifier) > IDENTIFIER_LENGTH_MAX:
            message = f"the name {identifier[:16]}... is longer than {IDENTIFIER_LENGTH_MAX}"
            raise UnpublishableModule(message)


def _check_not_native(module: CompiledModule) -> None:
    if any(row.fields is None for row in module.struct_definitions):
        raise UnpublishableModule("a struct is native")
    if any(row.code is None for row in module.function_definitions):
        raise UnpublishableModule("a function is native")


def has_init(module: CompiledModule) -> bool:
    """Return whether a function runs when the module is first published."""
    rows = module.function_definitions
    return any(module.function_id(row.handle)[2] == INIT for row in rows)


_ADDRESS_SIZE = 32
_UNPUBLISHED = bytes(_ADDRESS_SIZE)


class AlreadyPublished(Exception):  # noqa: N818 - the name states the cause
    """A module whose own address is not 0x0, so it belongs to a package with an id."""


def relocate(data: bytes, address: bytes) -> bytes:
    """Replace the module's own address, which is 0x0, by the id of its package (32 bytes).

    Modules of one package name each other by the same entry of the address table, so it is replaced
    for all of them. Raises `MalformedModule` or `AlreadyPublished`. Source: `substitute_package_id`
    in Sui's `programmable_transactions/execution.rs`.
    """
    return relocate_module(data, deserialize(data), address)[0]


def relocate_module(
    data: bytes, module: CompiledModule, address: bytes
) -> tuple[bytes, CompiledModule]:
    """Relocate bytes that were already read as `module`, and return both, relocated.

    The address does not affect how the rest of the file is read, so the file is not read again.
    """
    if module.address != _UNPUBLISHED:
        raise AlreadyPublished(f"the module {module.name} has the address {module.address.hex()}")
    table, _ = read_header(data).tables[TableKind.ADDRESSES]
    index = module.module_handles[module.self_handle].address
    # This is the only table whose rows all have the same length.
    start = table + index * _ADDRESS_SIZE
    addresses = (*module.addresses[:index], address, *module.addresses[index + 1 :])
    relocated = data[:start] + address + data[start + _ADDRESS_SIZE :]
    return relocated, replace(module, addresses=addresses)


def with_addresses(data: bytes, places: Mapping[Address, Address]) -> bytes:
    """Replace addresses of other packages in a module. `places` maps old addresses to new ones.

    Raises `MalformedModule`.
    """
    start, end = read_header(data).tables[TableKind.ADDRESSES]
    rows = [
        Address(data[start_of_row : start_of_row + _ADDRESS_SIZE])
        for start_of_row in range(start, end, _ADDRESS_SIZE)
    ]
    return data[:start] + b"".join(places.get(row, row) for row in rows) + data[end:]


def original_id(package: MovePackage) -> Address:
    """Return the id of the package's first version, which all modules use.

    The modules of every version have it as their own address. The shortest module is read.

    Raises:
        MalformedModule: The module is malformed.
        ValueError: The package has no modules.
    """
    return Address(own_address(min((data for _, data in package.modules), key=len)))


def package_digest(modules: Iterable[bytes], dependencies: Iterable[bytes]) -> bytes:
    """Return BLAKE2b-256 of the sorted module hashes and dependency ids (32 bytes each).

    Source: `MovePackage::compute_digest_for_modules_and_deps` in `sui-types/src/move_package.rs`.
    """
    parts = [_hash(module) for module in modules]
    return _hash(b"".join(sorted([*parts, *dependencies])))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
