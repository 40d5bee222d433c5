"""`nexus-tools workflow executions`: the executions that you began."""

import click

from nexus_tools.cli.framework import Session, complete_keys, reads
from nexus_tools.sui.support import units

_COLUMNS = {
    "execution": "Execution",
    "workflow": "Workflow",
    "status": "Status",
    "steps": "Steps",
    "funds": "Funds",
    "deadline": "Deadline",
}


@click.command()
@click.option("--running", is_flag=True, help="Only those that have not ended.")
@click.option("--all", "with_deleted", is_flag=True, help="Also those that are cleaned up.")
@click.option(
    "--owner", help="Those of this address, or of this key.", shell_complete=complete_keys
)
@reads
async def command(
    session: Session, *, running: bool, with_deleted: bool, owner: str | None
) -> None:
    """List the executions that your key began, the oldest first, as far as the node knows."""
    from nexus_tools.registry import status_of

    address = session.own_address() if owner is None else session.address_of(owner, short=True)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading executions"):
            found = await nexus.executions.list(address)
    rows = []
    for each in found:
        execution = each.execution
        is_running = execution is not None and execution.ended_at_ms is None
        if (running and not is_running) or (execution is None and not with_deleted):
            continue
        ending = None if execution is None else execution.walks.ending
        row = {
            "execution": str(each.begun.execution),
            "workflow": each.begun.fqn,
            "status": "cleaned" if execution is None else status_of(execution).value,
            "ending": ending,
            "steps": None if execution is None else execution.steps,
            "funds_mist": None if execution is None else execution.funds,
            "deadline_ms": each.begun.deadline_ms,
        }
        if not session.output.as_json:
            row["funds"] = units.sui(execution.funds) if execution and is_running else ""
            if is_running and ending is not None:
                row["status"] = f"stopping ({ending.replace('_', ' ')})"
            row["deadline"] = units.utc(each.begun.deadline_ms) if is_running else ""
        rows.append(row)
    none = "none is running" if running and found else "no executions"
    session.output.table(rows, _COLUMNS, empty=f"{none}: `nexus-tools workflow run FQN` begins one")
