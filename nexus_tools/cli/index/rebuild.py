"""The command `nexus-tools index rebuild`."""

import click

from nexus_tools.cli.framework import Session, query_command


@click.command()
@query_command
async def command(session: Session) -> None:
    """Read all events again into a new file, and then replace the contents of the index.

    Until the new index is complete, readers use the old index. If you interrupt the command, the
    old index remains. If you interrupt it while it computes vectors, `nexus-tools index run`
    continues with them. Stop `nexus-tools index run` first, because only one process can write.
    """
    from nexus_tools.cli.index.opening import (
        ProgressNotes,
        compute_vectors,
        search_updates,
        writable_index,
    )
    from nexus_tools.cli.index.status import status_document
    from nexus_tools.index import Index, rebuild

    async with (
        session.nexus(signing=False) as nexus,
        writable_index(session, nexus) as index,
        search_updates(session, index) as search,
    ):
        notes = ProgressNotes(session, await nexus.client.latest_checkpoint())
        with session.output.progress("reading events"):
            await rebuild(nexus.client, nexus.deployment, index, notes, search.words)
        await compute_vectors(session, search.vectors)
        with Index(index.path, index.identity) as reader:
            status = reader.status()
    session.output.done(f"rebuilt the index up to checkpoint {status.checkpoint}: {index.path}")
    if session.output.as_json:
        session.output.document(status_document(status, index.path))
