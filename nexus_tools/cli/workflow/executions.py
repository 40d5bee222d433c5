"""The command `nexus-tools workflow executions`."""

import click

from nexus_tools.cli.framework import Session, complete_keys, network_command
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
@click.option("--running", is_flag=True, help="List only running executions.")
@click.option("--all", "with_deleted", is_flag=True, help="Include deleted executions.")
@click.option(
    "--owner",
    help="List executions of this address or key. Default: the key that signs.",
    shell_complete=complete_keys,
)
@network_command
async def command(
    session: Session, *, running: bool, with_deleted: bool, owner: str | None
) -> None:
    """List the executions that your key owns, the oldest first.

    The list comes from events, so it only goes back as far as the node keeps events.
    """
    from nexus_tools.registry import status_of

    address = session.own_address() if owner is None else session.address_of(owner, short=True)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading executions"):
            found = await nexus.executions.list(address)
    rows = []
    for item in found:
        execution = item.execution
        is_running = execution is not None and execution.ended_at_ms is None
        if (running and not is_running) or (execution is None and not with_deleted):
            continue
        ending = None if execution is None else execution.progress.ending
        row = {
            "execution": str(item.start_event.execution),
            "workflow": item.start_event.fqn,
            "status": "cleaned" if execution is None else status_of(execution).value,
            "ending": ending,
            "steps": None if execution is None else execution.steps,
            "funds_mist": None if execution is None else execution.funds,
            "deadline_ms": item.start_event.deadline_ms,
        }
        if not session.output.as_json:
            row["funds"] = units.sui(execution.funds) if execution and is_running else ""
            if is_running and ending is not None:
                row["status"] = f"stopping ({ending.replace('_', ' ')})"
            row["deadline"] = units.utc(item.start_event.deadline_ms) if is_running else ""
        rows.append(row)
    none = "no running executions" if running and found else "no executions"
    empty = f"{none}. Run `nexus-tools workflow run FQN` to start one"
    session.output.table(rows, _COLUMNS, empty=empty)
