"""The command `nexus-tools leader list`, with the track record of each leader."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Output, Session, complete_fqns, network_command
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_with_records
from nexus_tools.cli.shared.pages import page_options
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.nexus import Nexus

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
@page_options("leaders")
@network_command
async def command(
    session: Session, *, fqn: str | None, active: bool, limit: int, everything: bool
) -> None:
    """List leaders with their track records, newest first.

    `Settled` counts invocations that a leader closed with the tool's answer. `Failed` counts
    invocations that the leader rejected or could not dispatch. Both numbers come from the newest 50
    answers and failures of the leader's workers, and only the latest of each pair of requester and
    tool counts. `Missed` counts your own invocations that the leader did not close in time, among
    your newest 50 invocations. `Latency` is the median time from a request to its answer.
    """
    async with session.nexus(signing=False) as nexus:
        found, note = await _read(
            session.output, nexus, fqn, active=active, limit=None if everything else limit
        )
        with session.output.progress(f"reading the records of {units.count(len(found), 'leader')}"):
            rows = await leaders_with_records(session, nexus.leaders, found)
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    fits = fqn is not None or active
    empty = _NONE_FITS if fits else _NONE
    session.output.table(rows, COLUMNS, empty=empty)
    if note:
        session.output.note(note)


async def _read(
    output: Output, nexus: "Nexus", fqn: str | None, *, active: bool, limit: int | None
) -> "tuple[list[Leader], str | None]":
    """Return the newest matching leaders, or all of them, and a note if there may be more."""
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import MAX_SCANNED

    leaders = nexus.leaders
    with output.progress("reading leaders"):
        tool = None if fqn is None else await nexus.tools.get(fqn)
        if tool is not None and not tool.accepts_any_leader:
            listed = await leaders.find_all(tool.leaders.entries, Leader)
            matches = [leader for leader in listed if leader and (leader.is_active or not active)]
            return sorted(matches, key=lambda leader: -leader.index)[:limit], None
        page = await leaders.list(active=active, limit=limit or MAX_SCANNED)
    found = [*page.items]
    if limit is None:
        while page.next is not None:
            with output.progress(f"reading leaders: {len(found)} found"):
                page = await leaders.list(active=active, limit=MAX_SCANNED, before=page.next)
            found += page.items
    if page.next is None:
        return found, None
    verb = "checked" if active else "listed"
    note = f"{verb} the newest {page.scanned} of {page.total} leaders. Use --all to list all"
    return found, note
