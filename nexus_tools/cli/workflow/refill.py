"""The command `nexus-tools workflow refill`."""

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    Session,
    confirm_and_execute,
    report,
    transaction_command,
)
from nexus_tools.sui.support import units


@click.command()
@click.argument("execution")
@click.argument("amount", type=AMOUNT)
@transaction_command
async def command(session: Session, *, execution: str, amount: int) -> None:
    """Add AMOUNT SUI to the funds of an EXECUTION. Unspent funds are refunded to its owner."""
    from nexus_tools.sui.types.address import Address

    place, done = Address.parse_whole(execution), f"added {units.sui(amount)} to {execution}"
    async with session.nexus() as nexus:
        sent = await confirm_and_execute(
            session,
            nexus.executions,
            lambda service: service.refill(place, amount),
            question=lambda _: f"Add {units.sui(amount)} to the funds of {execution}?",
        )
    report(session.output, sent, done, {"execution": execution, "amount_mist": amount})
