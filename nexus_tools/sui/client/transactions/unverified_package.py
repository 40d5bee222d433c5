"""The reason why a network refuses a package that does not match its dependencies on chain.

A node only reports that it cannot verify the package. Usually, the compiler used a newer framework
than the network has, or sources of a dependency that differ from the published package. A
comparison of the code with the dependencies on chain shows the difference.
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
    """Return the error with a list of the declarations that are missing or different on chain.

    Returns None if the commands were refused for another reason.
    """
    index = error.details.get("command")
    command = commands[index] if error.code == _REFUSED and index is not None else None
    if not isinstance(command, Publish | Upgrade):
        return None
    differences = await _differences(connection, command)
    if not differences:
        return None
    missing = [difference.text for difference in differences if difference.is_missing]
    differing = [difference.text for difference in differences if not difference.is_missing]
    return RefusedOnChainError(
        error.code,
        f"{error.message}: {'; '.join((*missing, *differing))}",
        hint="Compile the package with the framework of the network and with the published versions"
        " of its dependencies, or call another function.",
        details=error.details | {"missing": missing, "differing": differing},
    )


async def _differences(connection: Connection, command: Publish | Upgrade) -> list[_Difference]:
    from nexus_tools.sui.bytecode import (  # noqa: PLC0415 - only needed for this error
        MalformedModule,
        deserialize,
        published_modules,
    )

    dependencies = await read_objects(connection, command.dependencies)
    packages = [
        value.data for value in dependencies if value and isinstance(value.data, MovePackage)
    ]
    published = published_modules(packages)
    try:
        modules = [deserialize(module) for module in command.modules]
    except MalformedModule:
        return []
    return sorted(
        {difference for module in modules for difference in _differing_in(module, published)}
    )


def _differing_in(
    module: "CompiledModule", published: "Mapping[ModuleId, PublishedModule]"
) -> Iterator[_Difference]:
    """Yield differences such as `0x1::u64::saturating_sub is not in version 17 of the package`."""
    from nexus_tools.sui.bytecode import mismatches, published_module_finder  # noqa: PLC0415 - as above

    for mismatch in mismatches(module, published_module_finder(published)):
        if mismatch.module in published:
            version = published[mismatch.module].package.version
            yield _Difference(_words(mismatch, version), mismatch.is_missing)


def _words(mismatch: "Mismatch", version: int) -> str:
    address, owner = mismatch.module
    name = f"{Address(address).short()}::{owner}::{mismatch.name}"
    relation = "is not in" if mismatch.is_missing else "is declared differently in"
    return f"{name} {relation} version {version} of the package"
