"""Why a network refuses a package: what it calls is not so in the version that the network has.

Nodes say no more than that the package cannot be verified. A compiler that knows a newer framework
than the network is the usual reason, or a dependency that was published from other sources than
those that it was compiled with; whoever compares the two finds the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.reads import read_objects
from nexus_tools.sui.errors import RefusedOnChainError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import Command, Publish, Upgrade

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CompiledModule, Mismatch, ModuleId, PublishedModule

_REFUSED = ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR.name.lower()


class _Difference(NamedTuple):
    text: str
    is_missing: bool


async def explain_unverified(
    connection: Connection, commands: Sequence[Command], error: RefusedOnChainError
) -> RefusedOnChainError | None:
    """The refusal of these commands with what is missing or other than it was.

    None if the reason is another one.
    """
    index = error.details.get("command")
    command = commands[index] if error.code == _REFUSED and index is not None else None
    if not isinstance(command, Publish | Upgrade):
        return None
    found = await _differences(connection, command)
    if not found:
        return None
    missing = [each.text for each in found if each.is_missing]
    differing = [each.text for each in found if not each.is_missing]
    return RefusedOnChainError(
        error.code,
        f"{error.message}: {'; '.join((*missing, *differing))}",
        hint="compile it with the version of the packages that the network has, and with those that"
        " they were compiled with; or call another function",
        details=error.details | {"missing": missing, "differing": differing},
    )


async def _differences(connection: Connection, command: Publish | Upgrade) -> list[_Difference]:
    from nexus_tools.sui.bytecode import (  # noqa: PLC0415 - for this alone
        MalformedModule,
        deserialize,
        published_modules,
    )

    found = await read_objects(connection, command.dependencies)
    packages = [each.data for each in found if each and isinstance(each.data, MovePackage)]
    published = published_modules(packages)
    try:
        modules = [deserialize(module) for module in command.modules]
    except MalformedModule:
        return []
    return sorted({each for module in modules for each in _differing_in(module, published)})


def _differing_in(
    module: "CompiledModule", published: "Mapping[ModuleId, PublishedModule]"
) -> Iterator[_Difference]:
    """`0x1::u64::saturating_sub is not in version 17 of the package`, for each such thing."""
    from nexus_tools.sui.bytecode import find_published, mismatches  # noqa: PLC0415 - as above

    for mismatch in mismatches(module, find_published(published)):
        if mismatch.module in published:
            version = published[mismatch.module].package.version
            yield _Difference(_words(mismatch, version), mismatch.is_missing)


def _words(mismatch: "Mismatch", version: int) -> str:
    address, owner = mismatch.module
    place = f"{Address(address).short()}::{owner}::{mismatch.name}"
    what = "is not in" if mismatch.is_missing else "is declared in another way in"
    return f"{place} {what} version {version} of the package"
