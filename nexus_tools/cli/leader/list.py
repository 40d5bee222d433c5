"""The command `nexus-tools leader list`, with the track record of each leader."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, network_command
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_by_record

_NONE = "no leaders yet. Run `nexus-tools leader register` to register one"
_NONE_FITS = "no matching leaders. Run `nexus-tools leader list` without options to list all"


@click.command()
@click.option(
    "--tool",
    "fqn",
    metavar="FQN",
    shell_complete=complete_fqns,
    help="Include only leaders that this tool accepts.",
)
@click.option("--active", is_flag=True, help="Include only active leaders.")
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number of leaders to list.")
@network_command
async def command(session: Session, *, fqn: str | None, active: bool, limit: int | None) -> None:
    """List leaders with their track records. The most reliable active leader comes first.

    `Settled` counts invocations that a leader closed with the tool's answer. `Failed` counts
    invocations that the leader rejected or could not dispatch. `Missed` counts invocations that it
    did not close in time. Only the latest invocation of each pair of requester and tool counts.
    `Latency` is the median time from a request to its answer. The numbers come from the events that
    the node stores.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry and its events"):
            tool = None if fqn is None else await nexus.tools.get(fqn)
            found = [
                item
                for item in await nexus.leaders.list()
                if (tool is None or tool.accepts(item.id)) and (item.is_active or not active)
            ]
            rows = (await leaders_by_record(nexus.leaders, found))[:limit]
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    fits = fqn is not None or active
    empty = _NONE_FITS if fits else _NONE
    session.output.table(rows, COLUMNS, empty=empty)
