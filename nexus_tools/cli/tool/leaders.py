"""`nexus-tools tool leaders`: which leaders a tool accepts."""

import click

from nexus_tools.cli.framework import (
    Session,
    asked,
    carry_out,
    complete_fqns,
    reads,
    report,
    writes,
)
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_by_record
from nexus_tools.cli.leader_names import find_leader

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_LEADER = click.argument("which", metavar="LEADER")


@click.group()
def command() -> None:
    """Say which leaders a tool accepts, by their ids, or their names where only one has it.

    Invocations name leaders that the tool lists; of a tool without a list they name any leader. A
    tool gives its answer before it is paid: one that has a price lists leaders that its owner
    trusts. `nexus-tools leader list` shows what each did.
    """


@command.command()
@_FQN
@_LEADER
@writes
async def add(session: Session, fqn: str, which: str) -> None:
    """Accept a LEADER for the tool FQN, in invocations to come. It needs the owner."""
    await _change(session, fqn, which, is_added=True)


@command.command()
@_FQN
@_LEADER
@writes
async def remove(session: Session, fqn: str, which: str) -> None:
    """Take a LEADER off the list of the tool FQN, for invocations to come. An operator may."""
    await _change(session, fqn, which, is_added=False)


@command.command("list")
@_FQN
@reads
async def list_leaders(session: Session, fqn: str) -> None:
    """List the leaders that the tool FQN accepts, with what each did."""
    from nexus_tools.package.move.leader import Leader

    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry and its events"):
            tool = await nexus.tools.get(fqn)
            found = await nexus.leaders.find_all(tool.leaders.entries, Leader)
            rows = await leaders_by_record(nexus.leaders, [each for each in found if each])
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    session.output.table(rows, COLUMNS, empty=f"{fqn} has no list: it accepts any leader")


async def _change(session: Session, fqn: str, which: str, *, is_added: bool) -> None:
    from nexus_tools.package.move.leader import Leader
    from nexus_tools.registry import ToolRegistry

    verb = ToolRegistry.add_leader if is_added else ToolRegistry.remove_leader
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(fqn)
        listed = await nexus.leaders.find_all(tool.leaders.entries, Leader)
        among = None if is_added else [each for each in listed if each]
        leader = await find_leader(nexus.leaders, which, among)
        accepts = "accepts" if is_added else "no longer accepts"
        done = f"{fqn} {accepts} the leader {leader.id} ({leader.name})"
        sent = await carry_out(
            session,
            nexus.tools,
            lambda tools: verb(tools, fqn, leader.id),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    facts = {"fqn": fqn, "leader": str(leader.id), "name": leader.name}
    report(session.output, sent, done, facts)
    if not is_added and len(tool.leaders.entries) == 1:
        session.output.warn(f"the list of {fqn} is empty: any leader can be named for it")
