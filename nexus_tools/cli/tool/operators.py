"""The command group `nexus-tools tool operators`, for accounts that operate a tool."""

import click

from nexus_tools.cli.framework import (
    ACCOUNT,
    Session,
    complete_fqns,
    query_command,
    transaction_command,
)
from nexus_tools.cli.tool.roster import change_list

_FQN = click.argument("fqn", shell_complete=complete_fqns)
_WHO = click.argument("account", metavar="ADDRESS|ALIAS", type=ACCOUNT)


@click.group()
def command() -> None:
    """Manage operators, which may change a tool's URL, timeout, price and minimum outcome size.

    Operators may also remove leaders.
    """


@command.command()
@_FQN
@_WHO
@transaction_command
async def add(session: Session, fqn: str, account: str) -> None:
    """Add an operator to the tool FQN, by its address or by the alias of its key."""
    operator = session.address_of(account)
    done, facts = f"{account} is now an operator of {fqn}", {"operator": str(operator)}
    await change_list(session, fqn, lambda tools: tools.add_operator(fqn, operator), done, facts)


@command.command()
@_FQN
@_WHO
@transaction_command
async def remove(session: Session, fqn: str, account: str) -> None:
    """Remove an operator from the tool FQN, by its address or by the alias of its key."""
    operator = session.address_of(account)
    done, facts = f"{account} is no longer an operator of {fqn}", {"operator": str(operator)}
    await change_list(session, fqn, lambda tools: tools.remove_operator(fqn, operator), done, facts)


@command.command("list")
@_FQN
@query_command
async def list_operators(session: Session, fqn: str) -> None:
    """List the operators of the tool FQN."""
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
    rows = [{"operator": str(operator)} for operator in tool.operators.entries]
    session.output.table(rows, {"operator": "Operator"}, empty=f"{fqn} has no operators")
