"""`nexus-tools tool operators`: who may run a tool day by day besides its owner."""

import click

from nexus_tools.cli.framework import ACCOUNT, Session, complete_fqns, reads, writes
from nexus_tools.cli.tool.roster import change

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_WHO = click.argument("who", metavar="ADDRESS|ALIAS", type=ACCOUNT)


@click.group()
def command() -> None:
    """Let others change URL, timeout and price of a tool, and take leaders off its list."""


@command.command()
@_FQN
@_WHO
@writes
async def add(session: Session, fqn: str, who: str) -> None:
    """Make an address, or a key by its alias, an operator of the tool FQN."""
    operator = session.address_of(who)
    done, facts = f"{who} is an operator of {fqn}", {"operator": str(operator)}
    await change(session, fqn, lambda tools: tools.add_operator(fqn, operator), done, facts)


@command.command()
@_FQN
@_WHO
@writes
async def remove(session: Session, fqn: str, who: str) -> None:
    """Take the right to run the tool FQN from an address, or a key by its alias."""
    operator = session.address_of(who)
    done, facts = f"{who} is no operator of {fqn} any more", {"operator": str(operator)}
    await change(session, fqn, lambda tools: tools.remove_operator(fqn, operator), done, facts)


@command.command("list")
@_FQN
@reads
async def list_operators(session: Session, fqn: str) -> None:
    """List the operators of the tool FQN."""
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
    rows = [{"operator": str(operator)} for operator in tool.operators.entries]
    session.output.table(rows, {"operator": "Operator"}, empty=f"{fqn} has no operators")
