"""`nexus-tools workflow cancel`: the end of an execution before it is done."""

import click

from nexus_tools.cli.framework import Session, asked, carry_out, report, writes


@click.command()
@click.argument("execution")
@click.option("--expired", is_flag=True, help="End one whose time is over, whoever owns it.")
@writes
async def command(session: Session, *, execution: str, expired: bool) -> None:
    """End an EXECUTION: nothing more is requested, and what is left of its funds comes back.

    What is under way is still closed and paid; then it has ended.
    """
    from nexus_tools.package.move.workflows.execution import ExecutionStopped
    from nexus_tools.sui.address import Address

    place, done = Address.parse_whole(execution), f"cancelled {execution}"
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.executions,
            lambda service: service.expire(place) if expired else service.cancel(place),
            question=lambda sent: asked(done, sent),
        )
        stops = nexus.executions.has_emitted(sent, ExecutionStopped)
    report(session.output, sent, done, {"execution": execution})
    if not (session.dry_run or session.output.as_json):
        if stops:
            session.output.note("what is under way is still closed, and then it has ended")
        verb = "watch" if stops else "clean"
        session.output.note(f"next: nexus-tools workflow {verb} {execution}")
