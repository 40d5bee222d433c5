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
from nexus_tools.cli.tool.roster import change

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_LEADER = click.argument("which", metavar="LEADER")


@click.group()
def command() -> None:
    """Say which leaders a tool accepts, by their ids, or their names where only one has it.

    A tool is open to all leaders, or lists those that invocations can name. It gives its answer
    before it is paid: one that has a price lists leaders that its owner trusts. `nexus-tools leader
    list` shows what each did.
    """


@command.command()
@_FQN
@_LEADER
@writes
async def add(session: Session, fqn: str, which: str) -> None:
    """Accept a LEADER for the tool FQN, in invocations to come. It needs the owner.

    A tool that was open to all leaders has a list by that.
    """
    await _change(session, fqn, which, is_added=True)


@command.command()
@_FQN
@_LEADER
@writes
async def remove(session: Session, fqn: str, which: str) -> None:
    """Take a LEADER off the list of the tool FQN, for invocations to come. An operator may.

    Without the last one nobody can be named, and the tool is not invoked.
    """
    await _change(session, fqn, which, is_added=False)


@command.command("open")
@_FQN
@writes
async def open_to_all(session: Session, fqn: str) -> None:
    """Let any leader be named for the tool FQN, which has no price. It needs the owner."""
    await change(
        session, fqn, lambda tools: tools.open_to_all(fqn), f"{fqn} is open to all leaders", {}
    )


@command.command("list")
@_FQN
@reads
async def list_leaders(session: Session, fqn: str) -> None:
    """List the leaders that the tool FQN accepts, with what each did."""
    from nexus_tools.contracts.move_bindings.leader import Leader

    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry and its events"):
            tool = await nexus.tools.get(fqn)
            found = await nexus.leaders.find_all(tool.leaders.entries, Leader)
            rows = await leaders_by_record(nexus.leaders, [each for each in found if each])
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    who = "is open to all leaders" if tool.open else "lists no leader: nobody can be named for it"
    session.output.table(rows, COLUMNS, empty=f"{fqn} {who}")


async def _change(session: Session, fqn: str, which: str, *, is_added: bool) -> None:
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import ToolRegistry

    verb = ToolRegistry.add_leader if is_added else ToolRegistry.remove_leader
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(fqn)
        listed = await nexus.leaders.find_all(tool.leaders.entries, Leader)
        among = None if is_added else [each for each in listed if each]
        leader = await nexus.leaders.find(which, among)
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
        remedy = (
            f"`nexus-tools tool leaders add {fqn} LEADER` accepts another one"
            if tool.price_mist
            else f"`nexus-tools tool leaders open {fqn}` lets any be named"
        )
        session.output.warn(f"{fqn} lists no leader: nobody can be named for it. {remedy}")
