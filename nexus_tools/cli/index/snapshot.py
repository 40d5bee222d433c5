"""The command `nexus-tools index snapshot`."""

import asyncio
from pathlib import Path

import click

from nexus_tools.cli.framework import Session, query_command


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@query_command
async def command(session: Session, folder: Path) -> None:
    """Create a snapshot of the index in FOLDER, from which others can start their index.

    FOLDER then contains `snapshot.json` and a compressed file. Publish both with any HTTP server,
    or with `nexus-tools index serve --snapshot FOLDER`. `nexus-tools index run` may run meanwhile.
    The previous snapshot in FOLDER is deleted.
    """
    from nexus_tools.index import IndexIdentity
    from nexus_tools.index.snapshots import create_snapshot

    async with session.nexus(signing=False) as nexus:
        identity = IndexIdentity.of(nexus.deployment)
    with session.output.progress("copying the index"):
        manifest = await asyncio.to_thread(create_snapshot, identity.path(), identity, folder)
    session.output.done(f"created a snapshot at checkpoint {manifest.checkpoint} in {folder}")
    if session.output.as_json:
        from msgspec import to_builtins

        session.output.document(to_builtins(manifest, enc_hook=str) | {"folder": str(folder)})
