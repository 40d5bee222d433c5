"""The command group `nexus-tools tool leaders`, for a tool's list of accepted leaders."""

import click

from nexus_tools.cli.framework import (
    Session,
    complete_fqns,
    confirm_and_execute,
    confirmation_prompt,
    network_command,
    report,
    transaction_command,
)
from nexus_tools.cli.leader.record import COLUMNS, leader_for_people, leaders_with_records
from nexus_tools.cli.tool.roster import change_list

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_LEADER = click.argument("which", metavar="LEADER")


@click.group()
def command() -> None:
    """Manage a tool's list of accepted leaders. Name leaders by ID or by unique name.

    A tool either accepts all leaders, or only the leaders on its list. A leader receives the answer
    before it pays, so a priced tool must list leaders that its owner trusts. `nexus-tools leader
    list` shows the track record of each leader.
    """


@command.command()
@_FQN
@_LEADER
@transaction_command
async def add(session: Session, fqn: str, which: str) -> None:
    """Accept LEADER for future invocations of the tool FQN.

    The command requires the owner's key. A tool that accepted all leaders then accepts only LEADER.
    """
    await _change(session, fqn, which, is_added=True)


@command.command()
@_FQN
@_LEADER
@transaction_command
async def remove(session: Session, fqn: str, which: str) -> None:
    """Remove LEADER from the tool FQN's list. Existing invocations of LEADER stay valid.

    The command requires the key of the owner or of an operator.

    A tool with an empty list does not accept any leader, so it cannot be invoked.
    """
    await _change(session, fqn, which, is_added=False)


@command.command("open")
@_FQN
@transaction_command
async def open_to_all(session: Session, fqn: str) -> None:
    """Accept all leaders for the tool FQN, which must not have a price.

    The command requires the owner's key.
    """
    await change_list(
        session, fqn, lambda tools: tools.accept_any_leader(fqn), f"{fqn} accepts all leaders", {}
    )


@command.command("list")
@_FQN
@network_command
async def list_leaders(session: Session, fqn: str) -> None:
    """List the leaders that the tool FQN accepts, with their track records."""
    from nexus_tools.contracts.move_bindings.leader import Leader

    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry and its events"):
            tool = await nexus.tools.get(fqn)
            found = await nexus.leaders.find_all(tool.leaders.entries, Leader)
            rows = await leaders_with_records(
                session, nexus.leaders, [item for item in found if item]
            )
    if not session.output.as_json:
        rows = [leader_for_people(row) for row in rows]
    who = (
        "accepts all leaders"
        if tool.accepts_any_leader
        else "does not accept any leader, so it cannot be invoked"
    )
    session.output.table(rows, COLUMNS, empty=f"{fqn} {who}")


async def _change(session: Session, fqn: str, which: str, *, is_added: bool) -> None:
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.registry import ToolRegistry

    verb = ToolRegistry.add_leader if is_added else ToolRegistry.remove_leader
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(fqn)
        listed = await nexus.leaders.find_all(tool.leaders.entries, Leader)
        among = None if is_added else [item for item in listed if item]
        leader = await nexus.leaders.find(which, among)
        accepts = "accepts" if is_added else "no longer accepts"
        done = f"{fqn} {accepts} the leader {leader.id} ({leader.name})"
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            lambda tools: verb(tools, fqn, leader.id),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    facts = {"fqn": fqn, "leader": str(leader.id), "name": leader.name}
    report(session.output, sent, done, facts)
    if not is_added and len(tool.leaders.entries) == 1:
        remedy = (
            f"Run `nexus-tools tool leaders add {fqn} LEADER` to accept another leader"
            if tool.price_mist
            else f"Run `nexus-tools tool leaders open {fqn}` to accept all leaders"
        )
        session.output.warn(f"{fqn} does not accept any leader, so it cannot be invoked. {remedy}")
