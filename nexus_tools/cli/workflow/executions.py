"""The command `nexus-tools workflow executions`."""

import click

from nexus_tools.cli.framework import Session, complete_keys, network_command
from nexus_tools.cli.shared.pages import note_rest, page_options, read_items
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
@click.option("--deleted", is_flag=True, help="Include deleted executions.")
@click.option(
    "--owner",
    help="List executions of this address or key. Default: the key that signs.",
    shell_complete=complete_keys,
)
@page_options("executions")
@network_command
async def command(
    session: Session,
    *,
    running: bool,
    deleted: bool,
    owner: str | None,
    limit: int,
    everything: bool,
) -> None:
    """List the executions that your key started, the newest first.

    `nexus-tools schedule show` lists the executions that a schedule started. The list comes from
    events, so it only goes back as far as the node keeps events.
    """
    from nexus_tools.registry import status_of

    output = session.output
    address = session.own_address() if owner is None else session.address_of(owner, short=True)
    async with session.nexus(signing=False) as nexus:
        page = await read_items(
            output,
            "executions",
            lambda size, before: nexus.executions.list(
                address, limit=size, before=before, running=running, deleted=deleted
            ),
            limit=limit,
            everything=everything,
        )
        await note_rest(output, nexus.client, page, "executions", limit=limit)
    rows = []
    for item in page.items:
        execution = item.execution
        is_running = item.is_running
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
        if not output.as_json:
            row["funds"] = units.sui(execution.funds) if execution and is_running else ""
            if is_running and ending is not None:
                row["status"] = f"stopping ({ending.replace('_', ' ')})"
            row["deadline"] = units.utc(item.start_event.deadline_ms) if is_running else ""
        rows.append(row)
    none = "no running executions" if running else "no executions"
    empty = f"{none}. Run `nexus-tools workflow run FQN` to start one"
    output.table(rows, _COLUMNS, empty=empty)
