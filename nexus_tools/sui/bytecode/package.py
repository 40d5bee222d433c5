"""The publication of modules: the checks, the replacement of addresses, and the package digest.

The checks run on well-formed modules before the verifier runs. Only framework packages may define
native structs and functions. Sources: `sui-protocol-config` (protocol versions 38 and later), and
`check_no_extraneous_bytes` in `move-binary-format/src/deserializer.rs`.
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
"""The name of the function that Sui calls when a module is first published."""

IDENTIFIER_LENGTH_MAX = 128
# The maximum number of rows of each table: `binary_*` in the protocol configuration.
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
    """A well-formed module that violates one of Sui's rules for published modules."""


def check_publishable(module: CompiledModule) -> None:
    """Raise `UnpublishableModule` if a module violates a rule for published modules.

    A module must not exceed the size limits, and must not have metadata, native structs or native
    functions.
    """
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
    """Return whether the module has an `init` function, which runs at the first publication."""
    rows = module.function_definitions
    return any(module.function_id(row.handle)[2] == INIT for row in rows)


_ADDRESS_SIZE = 32
_UNPUBLISHED = bytes(_ADDRESS_SIZE)


class AlreadyPublished(Exception):  # noqa: N818 - the name states the cause
    """A module whose own address is not 0x0, so it already belongs to a published package."""


def relocate(data: bytes, address: bytes) -> bytes:
    """Replace the module's own address, which is 0x0, with the ID of its package (32 bytes).

    The module's references to other modules of the package use the same entry of the address table,
    so the replacement also changes these references. Raises `MalformedModule` or
    `AlreadyPublished`. Source: `substitute_package_id` in Sui's
    `programmable_transactions/execution.rs`.
    """
    return relocate_module(data, deserialize(data), address)[0]


def relocate_module(
    data: bytes, module: CompiledModule, address: bytes
) -> tuple[bytes, CompiledModule]:
    """Replace the own address of a module in both its bytes and its parsed form.

    The new bytes are not parsed again because the address does not affect other parts of the file.
    """
    if module.address != _UNPUBLISHED:
        raise AlreadyPublished(f"the module {module.name} has the address {module.address.hex()}")
    table, _ = read_header(data).tables[TableKind.ADDRESSES]
    index = module.module_handles[module.self_handle].address
    # All rows of the address table have the same length.
    start = table + index * _ADDRESS_SIZE
    addresses = (*module.addresses[:index], address, *module.addresses[index + 1 :])
    relocated = data[:start] + address + data[start + _ADDRESS_SIZE :]
    return relocated, replace(module, addresses=addresses)


def with_addresses(data: bytes, places: Mapping[Address, Address]) -> bytes:
    """Replace addresses in a module. `places` maps old addresses to new addresses.

    Raises `MalformedModule`.
    """
    start, end = read_header(data).tables[TableKind.ADDRESSES]
    rows = [
        Address(data[start_of_row : start_of_row + _ADDRESS_SIZE])
        for start_of_row in range(start, end, _ADDRESS_SIZE)
    ]
    return data[:start] + b"".join(places.get(row, row) for row in rows) + data[end:]


def original_id(package: MovePackage) -> Address:
    """Return the original ID of a package, which is the ID of its first version.

    The modules of all versions have this ID as their own address. To save time, only the shortest
    module is read.

    Raises:
        MalformedModule: The module is malformed.
        ValueError: The package has no modules.
    """
    return Address(own_address(min((data for _, data in package.modules), key=len)))


def package_digest(modules: Iterable[bytes], dependencies: Iterable[bytes]) -> bytes:
    """Return the BLAKE2b-256 digest of the sorted module hashes and dependency IDs (32 bytes each).

    Source: `MovePackage::compute_digest_for_modules_and_deps` in `sui-types/src/move_package.rs`.
    """
    parts = [_hash(module) for module in modules]
    return _hash(b"".join(sorted([*parts, *dependencies])))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
