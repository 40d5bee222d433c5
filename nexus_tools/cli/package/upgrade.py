"""`nexus-tools package upgrade`: to what comes with nexus-tools, then migration."""

from typing import TYPE_CHECKING

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, asked, carry_out, report, sent_record, writes

if TYPE_CHECKING:
    from nexus_tools.package import Sent, UpgradeResult

_MIGRATED = "migrated the registries: they refuse the commands of older versions"


@click.command()
@writes
async def command(session: Session) -> None:
    """Publish the package that comes with nexus-tools as the next version of the published one.

    Then it migrates the registries: from then on they refuse the commands of older versions. It
    needs the key with the UpgradeCap and the AdminCap. Leaders that run have to be started again.
    On other machines `nexus-tools package use ID`, with the id of the first, finds the newest.
    """
    from nexus_tools.package import Publisher, load_package

    async with session.client(signing=True) as client:
        known, network = await session.deployment(client), client.network.name
        publisher = Publisher(client, dry_run=session.dry_run)
        upgraded = await carry_out(
            session,
            publisher,
            lambda service: service.upgrade(load_package(), known),
            question=lambda rehearsed: _question(rehearsed, network),
        )
        if not session.dry_run:  # now, so that a migration that fails can be made up for
            session.settings.remember(upgraded.deployment, network)
        migrated = await carry_out(
            session,
            publisher,
            lambda service: service.migrate(upgraded.deployment),
            question=lambda rehearsed: (
                asked(_MIGRATED, rehearsed) if rehearsed and not upgraded.sent else ""
            ),
        )
    _report(session, upgraded, migrated, network)


def _question(rehearsed: "UpgradeResult", network: str) -> str:
    """What is going to be done; empty if nothing is."""
    if rehearsed.sent is None:
        return ""
    return (
        f"Upgrade the package on {network} to version {rehearsed.version} for"
        f" {units.sui(rehearsed.sent.cost.net)}, and migrate the registries, which then refuse the"
        " commands of older versions?"
    )


def _report(
    session: Session, upgraded: "UpgradeResult", migrated: "Sent | None", network: str
) -> None:
    """Say what was done, with the transaction of the upgrade, or else that of the migration."""
    output, version = session.output, upgraded.version
    record = {
        **upgraded.deployment.as_json(),
        "network": network,
        "package_version": version,
        "migration": None if migrated is None else sent_record(migrated),
    }
    sent = upgraded.sent or migrated
    if sent is None:
        output.done(f"version {version} on {network} is what comes with nexus-tools: nothing to do")
        if output.as_json:
            nothing = {"dry_run": session.dry_run, "digest": None, "cost_mist": 0}
            output.document(record | nothing)
        return
    upgrade = f"upgraded the package on {network} to version {version}"
    report(output, sent, upgrade if upgraded.sent else _MIGRATED, record)
    if upgraded.sent and migrated:
        output.done(f"{_MIGRATED} ({units.sui(migrated.cost.net)})")
