"""`nexus-tools workflow cost`: what an execution of a published workflow takes."""

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, complete_fqns, reads
from nexus_tools.cli.workflow.run import find_workflow

_COLUMNS = {
    "vertex": "Vertex",
    "tool": "Tool",
    "price": "Price",
    "run": "A run, at most",
    "stored": "Stored",
    "attempts": "Attempts",
    "repeated": "Repeated",
}


@click.command()
@click.argument("workflow", metavar="FQN|ID", shell_complete=complete_fqns)
@click.option("--group", help="Begin with this entry group.")
@click.option("--max-outcome-bytes", type=click.IntRange(min=0), help="As in `workflow run`.")
@click.option("--max-steps", type=click.IntRange(min=1), default=1_000, show_default=True)
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

    A run takes the price, the fees of a leader, and room for the largest outcome, most of which
    comes back. What it stores comes back to who cleans up. What is in a loop or a region runs as
    often as it takes: what that comes to is bounded by --max-steps alone.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress(f"reading {workflow}"):
            found = await find_workflow(nexus, workflow)
            cost = await nexus.executions.cost(
                found, group=group, max_outcome_bytes=max_outcome_bytes, max_steps=max_steps
            )
    output = session.output
    totals = {
        "begin_mist": cost.begin_mist,
        "once_mist": cost.once_mist,
        "usual_mist": cost.usual_mist,
        "most_mist": cost.most_mist,
    }
    if output.as_json:
        vertices = [
            {
                "vertex": each.vertex,
                "tool": each.fqn,
                "price_mist": each.price_mist,
                "run_mist": each.run_mist,
                "stored_mist": each.stored_mist,
                "attempts": each.attempts,
                "repeated": each.is_repeated,
            }
            for each in cost.vertices
        ]
        output.document({"workflow": str(found.fqn), **totals, "vertices": vertices})
        return
    rows = [
        {
            "vertex": each.vertex,
            "tool": each.fqn,
            "price": units.sui(each.price_mist),
            "run": units.sui(each.run_mist),
            "stored": units.sui(each.stored_mist),
            "attempts": each.attempts,
            "repeated": each.is_repeated,
        }
        for each in cost.vertices
    ]
    output.table(rows, _COLUMNS, empty="")
    labels = {
        "begin_mist": "to begin",
        "once_mist": "each vertex once",
        "usual_mist": "given by default",
        "most_mist": "at most",
    }
    output.record({key: units.sui(value) for key, value in totals.items()}, labels)
