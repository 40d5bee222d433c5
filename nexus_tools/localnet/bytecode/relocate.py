"""Giving a compiled module the address of its package."""

from nexus_tools.localnet.bytecode.deserializer import deserialize
from nexus_tools.localnet.bytecode.header import TableKind, read_header
from nexus_tools.localnet.bytecode.module import CompiledModule

_ADDRESS_SIZE = 32
_UNPUBLISHED = bytes(_ADDRESS_SIZE)


class AlreadyPublished(Exception):  # noqa: N818 - it says what the module is
    """A module whose own address is not 0x0: it belongs to a package that has an id."""


def relocate(data: bytes, address: bytes) -> bytes:
    """Replace the module's own address, which is 0x0, by the id of its package (32 bytes).

    Modules of one package name each other by the same entry of the address table, so that it is
    replaced for all of them. Raises `MalformedModule` or `AlreadyPublished`. Source:
    `substitute_package_id` in Sui's `programmable_transactions/execution.rs`.
    """
    return relocate_module(data, deserialize(data), address)


def relocate_module(data: bytes, module: CompiledModule, address: bytes) -> bytes:
    """As `relocate`, for bytes that were already read as `module`."""
    if module.address != _UNPUBLISHED:
        raise AlreadyPublished(f"the module {module.name} has the address {module.address.hex()}")
    table, _ = read_header(data).tables[TableKind.ADDRESSES]
    index = module.module_handles[module.self_handle].address
    start = table + index * _ADDRESS_SIZE
    return data[:start] + address + data[start + _ADDRESS_SIZE :]
