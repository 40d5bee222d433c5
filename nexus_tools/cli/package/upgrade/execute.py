"""The command `package upgrade execute`: execution of upgrades, and migration of registries."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
    transaction_document,
)
from nexus_tools.cli.package.compiler import Compilation, compilation_options
from nexus_tools.cli.package.lock import PACKAGE, locked_package, part_of
from nexus_tools.cli.package.upgrade.subject import SOURCES, compiled_upgrade
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import (
        CompiledPackage,
        PackageKind,
        Publisher,
        Sent,
        UpgradeResult,
    )

_MIGRATED = "migrated the registries: they now reject commands of older versions"


@click.command()
@PACKAGE
@SOURCES
@compilation_options
@transaction_command
async def command(
    session: Session, package: str | None, *, folder: Path | None, compilation: Compilation
) -> None:
    """Execute the proposed upgrade of PACKAGE.

    Anyone can execute an upgrade from 14 to 21 days after its proposal.

    Without PACKAGE, the command upgrades the tool package to the version that comes with
    nexus-tools. Then upgrade `workflows`, because the workflow package is linked to the latest
    version of the tool package. If the tool package is not locked, the command uses the UpgradeCap
    and upgrades it immediately.

    If the key that signs is the admin, the command then migrates the registries. Migrated
    registries reject commands of older versions, so restart all running Leaders. On other machines,
    run `nexus-tools package use ID` with the ID of the first version to find the latest version.
    """
    compiled = await compiled_upgrade(session, package, folder, compilation)
    part = part_of(package)
    if part is not None:
        await _execute_ours(session, compiled, part)
    else:
        assert package is not None
        await _execute_other(session, package, compiled)


async def _execute_other(session: Session, package: str, compiled: "CompiledPackage") -> None:
    async with session.client(signing=True) as client:
        locks, package_id = await locked_package(session, client, package)
        done = f"upgraded {package_id}"
        sent = await confirm_and_execute(
            session,
            locks,
            lambda service: service.execute(package_id, compiled),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
        versions = await client.package_versions(package_id)
    record = {"package_id": str(versions[-1]), "package_version": len(versions)}
    report(session.output, sent, done, record)


async def _execute_ours(session: Session, compiled: "CompiledPackage", part: "PackageKind") -> None:
    from nexus_tools.contracts import Publisher

    async with session.client(signing=True) as client:
        known, network = await session.deployment(client), client.network.name
        locks = session.settings.find_locks(network, known.chain_id)
        publisher = Publisher(client, dry_run=session.dry_run)
        upgraded = await confirm_and_execute(
            session,
            publisher,
            lambda service: service.upgrade(compiled, known, locks, part=part),
            question=lambda simulated: _question(simulated, network),
        )
        if not session.dry_run:  # stored now, in case the migration fails
            session.settings.remember(upgraded.deployment, network)
        migrated = await _migrate(session, publisher, upgraded)
    _report(session, upgraded, migrated, network)


async def _migrate(
    session: Session, publisher: "Publisher", upgraded: "UpgradeResult"
) -> "Sent | None":
    """Migrate the registries. If the signer is not the admin, print a note instead."""
    try:
        return await confirm_and_execute(
            session,
            publisher,
            lambda service: service.migrate(upgraded.deployment),
            question=lambda simulated: (
                confirmation_prompt(_MIGRATED, simulated) if simulated and not upgraded.sent else ""
            ),
        )
    except NexusError as error:
        if error.code != "not_admin" or upgraded.sent is None:
            raise
        session.output.note("the admin must run the same command to migrate the registries")
        return None


def _question(simulated: "UpgradeResult", network: str) -> str:
    """Return the confirmation prompt, or an empty string if there is nothing to do."""
    if simulated.sent is None:
        return ""
    return (
        f"Upgrade the package on {network} to version {simulated.version} for"
        f" {units.sui(simulated.sent.cost.net)}, and migrate the registries? The registries then"
        " reject commands of older versions."
    )


def _report(
    session: Session, upgraded: "UpgradeResult", migrated: "Sent | None", network: str
) -> None:
    """Report the result with the transaction of the upgrade, or else of the migration."""
    output, version = session.output, upgraded.version
    record = {
        **upgraded.deployment.as_json(),
        "network": network,
        "package_version": version,
        "migration": None if migrated is None else transaction_document(migrated),
    }
    sent = upgraded.sent or migrated
    if sent is None:
        output.done(f"version {version} on {network} is up to date: nothing to do")
        if output.as_json:
            nothing = {"dry_run": session.dry_run, "digest": None, "cost_mist": 0}
            output.document(record | nothing)
        return
    upgrade = f"upgraded the package on {network} to version {version}"
    report(output, sent, upgrade if upgraded.sent else _MIGRATED, record)
    if upgraded.sent and migrated:
        output.done(f"{_MIGRATED} ({units.sui(migrated.cost.net)})")
