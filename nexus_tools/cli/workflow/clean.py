"""The command `nexus-tools workflow clean`, which deletes an ended execution."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, report, transaction_command
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.workflows.execution import Execution


@click.command()
@click.argument("execution")
@transaction_command
async def command(session: Session, *, execution: str) -> None:
    """Delete an ended EXECUTION, including its results, and reclaim its storage deposit.

    No one can read the results afterwards. To keep them, run `nexus-tools workflow show EXECUTION
    --json` first.

    The deposit is refunded to the owner. From 7 days after the end, anyone may delete the execution
    and receive the deposit. The deletion of a large execution takes several transactions.
    After an interruption, run the same command again.
    """
    from nexus_tools.sui.types.address import Address

    place, output = Address.parse_whole(execution), session.output
    async with session.nexus() as nexus:
        found = await nexus.executions.get(place)
        outcomes = units.count(found.invocations, "outcome")
        lost = f"the results and {outcomes} of the execution {execution}"
        if session.dry_run or session.yes:
            output.note(f"the command deletes {lost}, which is {_state(found)}")
        else:
            show = f"nexus-tools workflow show {execution}{session.network_option(found.owner)}"
            output.note(f"`{show}` shows the results before you delete them")
            output.confirm(f"Delete {lost}, which is {_state(found)}?", yes=False)

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
    record = {
        "execution": execution,
        "deleted_outcomes": found.invocations,
        "returned_mist": back_mist,
    }
    report(output, cleaned.sent, f"{done}: {what}", record)


def _state(execution: "Execution") -> str:
    from nexus_tools.registry import status_of

    return status_of(execution).value.replace("_", " ")
