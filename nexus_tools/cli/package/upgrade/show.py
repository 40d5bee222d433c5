"""`nexus-tools package upgrade show`: what is proposed, and whether some sources are just that."""

from pathlib import Path
from typing import Any

import click

from nexus_tools.cli.framework import Session, reads
from nexus_tools.cli.package.compiler import Compilation, compiles
from nexus_tools.cli.package.lock import PACKAGE, in_words, locked_package, upgrades_record
from nexus_tools.cli.package.upgrade.subject import SOURCES, compiled_upgrade
from nexus_tools.errors import ValidationError


@click.command()
@PACKAGE
@SOURCES
@compiles
@reads
async def command(
    session: Session, package: str | None, *, folder: Path | None, compilation: Compilation
) -> None:
    """Show who upgrades PACKAGE, what is proposed, and when it can be executed; else of ours.

    With a folder, its sources are compiled and compared with what is proposed: the digest binds,
    the address of the sources does not.
    """
    output = session.output
    async with session.client() as client:
        locks, package_id = await locked_package(session, client, package)
        with output.progress("reading the lock"):
            found = await locks.upgrades(package_id)
            said = await upgrades_record(session, client, package_id)
            said = await in_words(session, client, said)
    record: dict[str, Any] = {
        "package": str(found.package),
        "version": found.version,
        "lock": str(locks.lock_id(found.package)),
        **said,
    }
    if found.proposal is not None and (folder or package is None):
        compiled = await compiled_upgrade(session, package, folder, compilation)
        matches = compiled.digest == found.proposal.digest
        record["folder_is_proposed" if folder else "is_what_ships"] = matches
        if folder and not matches:
            output.record(record)
            raise ValidationError(
                "sources_differ",
                f"{folder} compiles to {compiled.digest.hex()}, which is not what is proposed",
                hint="other sources, another compiler, or a trick: ask who proposed it",
            )
    output.record(record)
