"""The command `nexus-tools workflow clean`, which deletes an ended execution."""

import click

from nexus_tools.cli.framework import Session, report, transaction_command
from nexus_tools.sui.support import units


@click.command()
@click.argument("execution")
@transaction_command
async def command(session: Session, *, execution: str) -> None:
    """Delete an ended EXECUTION, including its results, and reclaim its storage deposit.

    The deposit is refunded to the owner. From 7 days after the end, anyone may delete the execution
    and receive the deposit. The deletion of a large execution takes several transactions.
    After an interruption, run the same command again.
    """
    from nexus_tools.sui.types.address import Address

    place, output = Address.parse_whole(execution), session.output
    async with session.nexus() as nexus:
        if not session.dry_run:
            await nexus.executions.get(place)
            output.confirm(f"Delete the execution {execution} and its results?", yes=session.yes)

        def told(done: int, total: int) -> None:
            if total > 1:
                output.note(f"transaction {done} of {total}")

        with output.progress("cleaning up"):
            async with session.sending_turn():
                cleaned = await nexus.executions.clean(place, on_sent=told)
    back_mist = cleaned.returned_mist
    what = f"{units.sui(back_mist)} refunded" if back_mist >= 0 else "the gas exceeds the refund"
    done = f"deleted {execution}"
    if cleaned.unsent:
        done = f"the first of {cleaned.unsent + 1} transactions that delete {execution}"
    record = {"execution": execution, "returned_mist": back_mist}
    report(output, cleaned.sent, f"{done}: {what}", record)
