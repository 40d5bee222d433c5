"""Why a network refuses a package: what it calls is not in the version that the network has.

Nodes say no more than that the package cannot be verified. A compiler that knows a newer framework
than the network is the usual reason, and whoever compares the two finds what is missing.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nexus_tools.client.connection import Connection
from nexus_tools.client.reads import read_objects
from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.address import Address
from nexus_tools.sui.execution_status import ErrorKind
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Command, Publish, Upgrade

if TYPE_CHECKING:
    from nexus_tools.bytecode import CompiledModule

_REFUSED = ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR.name.lower()
_Published = dict[tuple[bytes, str], tuple[MovePackage, bytes]]
"""Modules by the address that they have in bytecode, and their name."""


async def explain_refusal(
    connection: Connection, commands: Sequence[Command], error: RefusedOnChainError
) -> RefusedOnChainError | None:
    """The error with the functions that are missing; None if that is not the reason."""
    index = error.details.get("command")
    command = commands[index] if error.code == _REFUSED and index is not None else None
    if not isinstance(command, Publish | Upgrade):
        return None
    missing = await _missing_functions(connection, command)
    if not missing:
        return None
    return RefusedOnChainError(
        error.code,
        f"{error.message}: {'; '.join(missing)}",
        hint="compile it with the version of the packages that the network has, or call another"
        " function",
        details=error.details | {"missing": missing},
    )


async def _missing_functions(connection: Connection, command: Publish | Upgrade) -> list[str]:
    from nexus_tools.bytecode import (  # noqa: PLC0415 - for this alone
        MalformedModule,
        deserialize,
        original_id,
    )

    found = await read_objects(connection, command.dependencies)
    packages = [each.data for each in found if each and isinstance(each.data, MovePackage)]
    published: _Published = {
        (bytes(original_id(package)), name): (package, data)
        for package in packages
        for name, data in package.modules
    }
    try:
        modules = [deserialize(module) for module in command.modules]
    except MalformedModule:
        return []
    return sorted({each for module in modules for each in _missing_in(module, published)})


def _missing_in(module: "CompiledModule", published: _Published) -> Iterator[str]:
    """`0x1::u64::saturating_sub is not in version 17 of the package`, for each such function."""
    declared: dict[bytes, frozenset[str]] = {}
    for index in range(len(module.function_handles)):
        address, owner, function = module.function_id(index)
        if (address, owner) not in published:
            continue
        package, data = published[address, owner]
        if data not in declared:
            declared[data] = _public_functions(data)
        if function not in declared[data]:
            place = f"{Address(address).short()}::{owner}::{function}"
            yield f"{place} is not in version {package.version} of the package"


def _public_functions(data: bytes) -> frozenset[str]:
    from nexus_tools.bytecode import Visibility, deserialize  # noqa: PLC0415 - as above

    module = deserialize(data)
    return frozenset(
        module.function_id(row.handle)[2]
        for row in module.function_definitions
        if row.visibility is Visibility.PUBLIC
    )
