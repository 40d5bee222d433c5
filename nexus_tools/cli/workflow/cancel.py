"""The command `nexus-tools workflow cancel`."""

import click

from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.sui.support import units


@click.command()
@click.argument("execution")
@click.option(
    "--expired",
    is_flag=True,
    help="End an execution after its deadline, even if another account owns it.",
)
@transaction_command
async def command(session: Session, *, execution: str, expired: bool) -> None:
    """Cancel an EXECUTION and refund its remaining funds. The execution sends no more requests.

    Pending invocations are still closed and paid before the execution ends.
    """
    from nexus_tools.contracts.move_bindings.workflows.execution import (
        ExecutionEnded,
        ExecutionStopped,
    )
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(execution)
    async with session.nexus() as nexus:
        sent = await confirm_and_execute(
            session,
            nexus.executions,
            lambda service: service.expire(place) if expired else service.cancel(place),
            question=lambda sent: confirmation_prompt(f"cancelled {execution}", sent),
        )
        executions = nexus.executions
        stops = executions.has_emitted(sent, ExecutionStopped)
        has_ended = executions.has_emitted(sent, ExecutionEnded)
        back_mist = executions.emitted(sent, ExecutionEnded).refund_mist if has_ended else None
    back = "" if back_mist is None else f": {units.sui(back_mist)} of its funds refunded"
    record = {"execution": execution, "returned_mist": back_mist}
    report(session.output, sent, f"cancelled {execution}{back}", record)
    if not (session.dry_run or session.output.as_json):
        if stops:
            session.output.note(
                "the execution ends and its funds are refunded once its pending invocations are"
                " closed or expired"
            )
        verb = "show" if stops else "clean"
        session.output.note(f"next: nexus-tools workflow {verb} {execution}")
