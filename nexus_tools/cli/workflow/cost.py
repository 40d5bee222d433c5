"""`nexus-tools workflow cost`: what an execution of a published workflow takes."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, reads
from nexus_tools.cli.workflow.run import find_workflow
from nexus_tools.sui.support import units

_COLUMNS = {
    "vertex": "Vertex",
    "tool": "Tool",
    "charge": "Price and gas",
    "run": "A run, at most",
    "stored": "Stored",
    "attempts": "Attempts",
    "repeated": "Repeated",
}
_TOTALS = {
    "begin_mist": "to begin",
    "once_mist": "each vertex once",
    "usual_mist": "given by default",
    "most_mist": "at most",
}


@click.command()
@click.argument("workflow", metavar="FQN|ID", shell_complete=complete_fqns)
@click.option("--group", help="Begin with this entry group.")
@click.option(
    "--max-outcome-bytes", type=click.IntRange(min=0), help="How large an outcome may be."
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="After how many steps it ends.",
)
@reads
async def command(
    session: Session,
    *,
    workflow: str,
    group: str | None,
    max_outcome_bytes: int | None,
    max_steps: int,
) -> None:
    """Reckon what an execution of the workflow FQN takes of its funds, at most, at today's prices.

    A run takes the price, the gas of a tool on chain, the fees of a leader, and room for the
    largest outcome, most of which comes back. What it stores comes back to who cleans up. What is
    in a loop or a region runs as often as it takes: what that comes to is bounded by --max-steps
    alone.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress(f"reading {workflow}"):
            found = await find_workflow(nexus, workflow)
            cost = await nexus.executions.cost(
                found, group=group, max_outcome_bytes=max_outcome_bytes, max_steps=max_steps
            )
    totals = {label: getattr(cost, label) for label in _TOTALS}
    rows = [
        {
            "vertex": each.vertex,
            "tool": each.fqn,
            "charge_mist": each.charge_mist,
            "run_mist": each.run_mist,
            "stored_mist": each.stored_mist,
            "attempts": each.attempts,
            "repeated": each.is_repeated,
        }
        for each in cost.vertices
    ]
    if session.output.as_json:
        session.output.document({"workflow": str(found.fqn), **totals, "vertices": rows})
        return
    session.output.table([units.in_words(row) for row in rows], _COLUMNS, empty="")
    words = {key: units.sui(value) for key, value in totals.items()}
    session.output.record(words, _TOTALS)
