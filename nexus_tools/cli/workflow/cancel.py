"""`nexus-tools workflow cancel`: the end of an execution before it is done."""

import click

from nexus_tools.cli.framework import Session, asked, carry_out, report, writes
from nexus_tools.sui.support import units


@click.command()
@click.argument("execution")
@click.option("--expired", is_flag=True, help="End one whose time is over, whoever owns it.")
@writes
async def command(session: Session, *, execution: str, expired: bool) -> None:
    """End an EXECUTION: nothing more is requested, and what is left of its funds comes back.

    What is under way is still closed and paid; then it has ended.
    """
    from nexus_tools.contracts.move_bindings.workflows.execution import (
        ExecutionEnded,
        ExecutionStopped,
    )
    from nexus_tools.sui.types.address import Address

    place = Address.parse_whole(execution)
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.executions,
            lambda service: service.expire(place) if expired else service.cancel(place),
            question=lambda sent: asked(f"cancelled {execution}", sent),
        )
        executions = nexus.executions
        stops = executions.has_emitted(sent, ExecutionStopped)
        has_ended = executions.has_emitted(sent, ExecutionEnded)
        back_mist = executions.emitted(sent, ExecutionEnded).refund_mist if has_ended else None
    back = "" if back_mist is None else f": {units.sui(back_mist)} of its funds came back"
    record = {"execution": execution, "back_mist": back_mist}
    report(session.output, sent, f"cancelled {execution}{back}", record)
    if not (session.dry_run or session.output.as_json):
        if stops:
            session.output.note(
                "invocations that are still open are closed or expire first: then it has ended,"
                " and its funds come back"
            )
        verb = "show" if stops else "clean"
        session.output.note(f"next: nexus-tools workflow {verb} {execution}")
