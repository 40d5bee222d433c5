"""The command `package upgrade show`, which compares a proposal with sources."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, network_command
from nexus_tools.cli.package.compiler import Compilation, compilation_options
from nexus_tools.cli.package.lock import (
    PACKAGE,
    in_words,
    locked_package,
    part_of,
    upgrades_document,
)
from nexus_tools.cli.package.upgrade.subject import SOURCES, compiled_upgrade
from nexus_tools.errors import ValidationError, WrongStateError

if TYPE_CHECKING:
    from nexus_tools.contracts import CompiledPackage, UpgradeChanges


@click.command()
@PACKAGE
@SOURCES
@compilation_options
@network_command
async def command(
    session: Session, package: str | None, *, folder: Path | None, compilation: Compilation
) -> None:
    """Show the upgrade policy of PACKAGE, its owner, and the proposed upgrade.

    Default: the tool package of nexus-tools.

    With --folder, the command compiles the sources and compares them with the proposal. Only the
    digest is binding, not the URL of the sources. If the digests match, the command lists the
    modules that change, and warns about risks. For example, `init` of an added module runs with the
    rights of the account that executes the upgrade.
    """
    output = session.output
    compiled: CompiledPackage | None = None
    changes: UpgradeChanges | None = None
    async with session.client() as client:
        locks, package_id = await locked_package(session, client, package)
        with output.progress("reading the lock"):
            found = await locks.upgrade_state(package_id)
            said = await in_words(session, client, upgrades_document(found))
        record: dict[str, Any] = {
            "package": str(found.package),
            "version": found.version,
            "lock": str(locks.lock_id(found.package)),
            **said,
        }
        if found.proposal is not None and (folder or part_of(package)):
            compiled = await compiled_upgrade(session, package, folder, compilation)
            matches = compiled.digest == found.proposal.digest
            record["folder_is_proposed" if folder else "is_what_ships"] = matches
            if matches:
                changes = await locks.changes(package_id, compiled)
                record |= _changes_record(changes)
    output.record(record)
    if changes:
        _warn(output, changes)
    elif folder:
        raise _not_proposed(folder, compiled)


def _changes_record(changes: "UpgradeChanges") -> dict[str, Any]:
    return {
        "modules_changed": list(changes.changed),
        "modules_added": list(changes.added),
        "modules_removed": list(changes.removed),
        "modules_added_with_init": list(changes.inits),
        "dependencies_added": list(map(str, changes.dependencies)),
        "compatible": not changes.incompatible,
    }


def _warn(output: Output, changes: "UpgradeChanges") -> None:
    """Warn about risks in a proposal that was not made with nexus-tools."""
    for name in changes.inits:
        output.warn(
            f"the added module {name} has `init`. It runs with the rights of the account"
            " that executes the upgrade, and can transfer the objects that it creates to anyone"
        )
    if changes.incompatible:
        output.warn(f"the chain will reject the upgrade: {changes.incompatible}")


def _not_proposed(
    folder: Path, compiled: "CompiledPackage | None"
) -> WrongStateError | ValidationError:
    if compiled is None:
        return WrongStateError(
            "no_proposal",
            f"cannot compare {folder} with a proposal: no upgrade is proposed",
            hint="Run `nexus-tools package upgrade watch` to be notified of proposals.",
        )
    return ValidationError(
        "sources_mismatch",
        f"{folder} compiles to {compiled.digest.hex()}, which differs from the proposal",
        hint="Ask the proposer: the sources or the compiler differ, or the proposal is malicious.",
    )
