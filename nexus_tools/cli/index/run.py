"""The command `nexus-tools index run`."""

import asyncio
import os
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, query_command

if TYPE_CHECKING:
    from nexus_tools.index import IndexPipeline
    from nexus_tools.nexus import Nexus

_RETRY_S = 1.0


@click.command()
@click.option("--once", is_flag=True, help="Stop when the index contains the newest events.")
@click.option(
    "--intent-model",
    metavar="wordllama|FOLDER",
    help="Model for the search by intent. Default: the setting intent_model, or no such search.",
)
@query_command
async def command(session: Session, *, once: bool, intent_model: str | None) -> None:
    """Build the index of the registry and keep it current until Ctrl-C.

    The index contains tools, leaders, invocations, workflows, executions and schedules. It is
    a SQLite file for each chain and package, in `$XDG_DATA_HOME/nexus-tools/index`. One process
    writes the index, and any number of processes can read it. After an interruption, the command
    continues where it stopped.

    The command also updates the search index beside the file. The commands `nexus-tools tool list`
    and `nexus-tools mcp serve` use this index. The extra `index` installs Tantivy, which also finds
    misspelled words. The extra `intent` is needed for --intent-model. Searches use the model of
    the setting intent_model: `nexus-tools config set intent_model wordllama`. A sentence encoder
    takes minutes for thousands of tools. Until their vectors are computed, searches find them by
    their words. With --once, the command computes all vectors before it stops.

    A damaged file is replaced by a new index. Ctrl-C or SIGTERM completes the current batch and
    exits with code 0. With `--json`, the command prints the status when the index is current.
    """
    from nexus_tools.cli.framework import until_stopped

    async with session.nexus(signing=False, keeps_running=not once) as nexus:
        await until_stopped(_index(session, nexus, intent_model, once=once))


async def _index(session: Session, nexus: "Nexus", intent_model: str | None, *, once: bool) -> None:
    from nexus_tools.cli.index.opening import compute_vectors, index_pipeline
    from nexus_tools.index import Index

    output = session.output
    async with index_pipeline(session, nexus, intent_model) as opened:
        index, search, pipeline = opened.index, opened.search, opened.pipeline
        with output.progress("reading events"):
            await _catch_up(session, pipeline, is_patient=not once)
        if once:
            await compute_vectors(session, search.vectors)
        with Index(index.path, index.identity) as reader:
            status = reader.status()
        output.done(f"indexed up to checkpoint {status.checkpoint}: {index.path}")
        if output.as_json:
            from nexus_tools.cli.index.status import status_document

            output.document(status_document(status, index.path))
        if not once:
            start = f"following new events from checkpoint {status.checkpoint}"
            output.note(f"{start}, until Ctrl-C (pid {os.getpid()})")
            if missing := search.vectors.pending():
                output.note(f"computing the vectors of at most {missing} tools in the background")
            await pipeline.run()


async def _catch_up(session: Session, pipeline: "IndexPipeline", *, is_patient: bool) -> None:
    """Read all events. With `is_patient`, an unreachable node only causes a warning."""
    from nexus_tools.cli.framework import plain
    from nexus_tools.errors import UnreachableError

    while True:
        try:
            await pipeline.catch_up()
        except UnreachableError as error:
            if not is_patient:
                raise
            session.output.warn(plain(error.message))
            await asyncio.sleep(_RETRY_S)
        else:
            return
