"""`nexus-tools leader list`: whom a requester names, and whom a tool accepts."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, reads
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_by_record

_NONE = "there is no leader yet: `nexus-tools leader register` makes one"
_NONE_FITS = "no leader fits: `nexus-tools leader list` alone shows all of them"


@click.command()
@click.option(
    "--for",
    "fqn",
    metavar="FQN",
    shell_complete=complete_fqns,
    help="Only leaders that this tool accepts.",
)
@click.option("--active", is_flag=True, help="Only leaders that new invocations can name.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@reads
async def command(session: Session, *, fqn: str | None, active: bool, limit: int | None) -> None:
    """List the leaders with what they did, the most reliable of the active ones first.

    Settled, failed, missed: invocations that a leader closed with the tool's answer, refused or was
    overloaded with, and let pass. Each pair of requester and tool counts once, by the latest one.
    Latency is the median time from a request to its answer. All that is read from the events that
    the node keeps.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry and its events"):
            tool = None if fqn is None else await nexus.tools.get(fqn)
            found = [
                each
                for each in await nexus.leaders.list()
                if (tool is None or tool.accepts(each.id)) and (each.is_active or not active)
            ]
            rows = (await leaders_by_record(nexus.leaders, found))[:limit]
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    fits = fqn is not None or active
    empty = _NONE_FITS if fits else _NONE
    session.output.table(rows, COLUMNS, empty=empty)
