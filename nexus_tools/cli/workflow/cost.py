"""The command `nexus-tools workflow cost`, which estimates the cost of an execution."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, query_command
from nexus_tools.cli.workflow.run import find_workflow
from nexus_tools.sui.support import units

_COLUMNS = {
    "vertex": "Vertex",
    "tool": "Tool",
    "charge": "Price and gas",
    "run": "Run (maximum)",
    "stored": "Storage",
    "attempts": "Attempts",
    "repeated": "Repeated",
}
_TOTALS = {
    "start_mist": "to start",
    "single_pass_mist": "each vertex once",
    "recommended_mist": "default funds",
    "maximum_mist": "maximum",
}


@click.command()
@click.argument("workflow", metavar="FQN|ID", shell_complete=complete_fqns)
@click.option("--group", help="Entry group to start with.")
@click.option("--max-outcome-bytes", type=click.IntRange(min=0), help="Maximum size of an outcome.")
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Maximum number of runs.",
)
@query_command
async def command(
    session: Session,
    *,
    workflow: str,
    group: str | None,
    max_outcome_bytes: int | None,
    max_steps: int,
) -> None:
    """Estimate the maximum cost of an execution of the workflow FQN, at current prices.

    The cost of a run is the tool's price, the gas of an on-chain tool, and the fees of a leader.
    The fees cover an outcome of the maximum size, so a part is usually refunded. The account that
    deletes the execution receives its storage deposits. Vertices in loops and regions may run
    repeatedly, limited only by --max-steps.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress(f"reading {workflow}"):
            found = await find_workflow(nexus, workflow)
            cost = await nexus.executions.estimate_cost(
                found, group=group, max_outcome_bytes=max_outcome_bytes, max_steps=max_steps
            )
    totals = {label: getattr(cost, label) for label in _TOTALS}
    rows = [
        {
            "vertex": vertex.vertex,
            "tool": vertex.fqn,
            "charge_mist": vertex.charge_mist,
            "run_mist": vertex.attempt_mist,
            "stored_mist": vertex.storage_mist,
            "attempts": vertex.attempts,
            "repeated": vertex.is_repeated,
        }
        for vertex in cost.vertices
    ]
    if session.output.as_json:
        session.output.document({"workflow": str(found.fqn), **totals, "vertices": rows})
        return
    session.output.table([units.in_words(row) for row in rows], _COLUMNS, empty="")
    words = {key: units.sui(value) for key, value in totals.items()}
    session.output.record(words, _TOTALS)
