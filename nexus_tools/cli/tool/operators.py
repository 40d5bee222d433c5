"""The command group `nexus-tools tool operators`, for accounts that operate a tool."""

import click

from nexus_tools.cli.framework import ACCOUNT, Session, complete_fqns, reads, writes
from nexus_tools.cli.tool.roster import change

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_WHO = click.argument("who", metavar="ADDRESS|ALIAS", type=ACCOUNT)


@click.group()
def command() -> None:
    """Manage operators, who may change a tool's URL, timeout and price, and remove leaders."""


@command.command()
@_FQN
@_WHO
@writes
async def add(session: Session, fqn: str, who: str) -> None:
    """Add an operator, given by its address or the alias of its key, to the tool FQN."""
    operator = session.address_of(who)
    done, facts = f"{who} is now an operator of {fqn}", {"operator": str(operator)}
    await change(session, fqn, lambda tools: tools.add_operator(fqn, operator), done, facts)


@command.command()
@_FQN
@_WHO
@writes
async def remove(session: Session, fqn: str, who: str) -> None:
    """Remove an operator, given by its address or the alias of its key, from the tool FQN."""
    operator = session.address_of(who)
    done, facts = f"{who} is no longer an operator of {fqn}", {"operator": str(operator)}
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
