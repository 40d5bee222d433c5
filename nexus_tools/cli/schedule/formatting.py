"""The commands `nexus-tools schedule list` and `show`."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, network_command
from nexus_tools.cli.shared.pages import note_rest, page_options, read_items
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.cli.framework import Output
    from nexus_tools.contracts.move_bindings.workflows.schedule import StandingOrder
    from nexus_tools.registry import ScheduleOverview

_COLUMNS = {
    "schedule": "Schedule",
    "workflow": "Workflow",
    "state": "State",
    "next": "Next",
    "started": "Started",
    "running": "Running",
    "funds": "Funds",
}
_FAILED = ("completed_with_failures", "terminated", "timed_out")
_EXECUTIONS = {
    "execution": "Execution",
    "status": "Status",
    "planned": "Planned",
    "missed": "Missed",
    "fee": "Fee",
    "stored": "Stored",
}


@click.command("list")
@page_options("schedules")
@network_command
async def list_schedules(session: Session, *, limit: int, everything: bool) -> None:
    """List the wallet's schedules that are not deleted, the newest first.

    The list comes from events, so it only goes back as far as the node keeps events. With
    --json, the fields are `schedule`, `workflow`, `dag`, `state`, `next_at_ms`, `started`,
    `running`, `failures`, `missed`, `funds_mist` and `collectable_mist` (the part of the funds that
    comes from ended executions). `missed` counts the planned times that were skipped since the last
    execution.
    """
    async with session.nexus(signing=False) as nexus:
        address = session.own_address()
        page = await read_items(
            session.output,
            "schedules",
            lambda size, before: nexus.schedules.overviews(address, limit=size, before=before),
            limit=limit,
            everything=everything,
        )
        await note_rest(session.output, nexus.client, page, "schedules", limit=limit)
    found = page.items
    rows = [schedule_document(item) for item in found]
    if not session.output.as_json:
        rows = [_for_people(item, row) for item, row in zip(found, rows, strict=True)]
    empty = "no schedules. Run `nexus-tools schedule create` to create one"
    session.output.table(rows, _COLUMNS, empty=empty)
    for item in found:
        _advise(session.output, item)


@click.command()
@click.argument("schedule")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Maximum number of executions to show.",
)
@network_command
async def show(session: Session, schedule: str, limit: int) -> None:
    """Show a SCHEDULE, its terms, and the executions it started, the newest first.

    With --json, the fields of `list` are followed by `when`, `max_late_ms`,
    `funds_per_execution_mist`, `keeper_fee_mist`, `overlaps`, `max_failures`, `max_executions`,
    `leaders` and `executions`.
    """
    from nexus_tools.contracts.move_bindings.workflows.execution import Execution
    from nexus_tools.registry import status_of
    from nexus_tools.sui.types.address import Address

    async with session.nexus(signing=False) as nexus:
        place = Address.parse_whole(schedule)
        with session.output.progress("reading the schedule"):
            found = await nexus.schedules.overview(place)
            began = await nexus.schedules.executions(place, limit=limit)
            kept = await nexus.executions.find_all([start.execution for start in began], Execution)
            latest = await nexus.client.latest_checkpoint()
    executions = [
        {
            "execution": str(start.execution),
            "status": "cleaned" if execution is None else status_of(execution).value,
            "planned_at_ms": start.planned_at_ms,
            "missed": start.missed,
            "fee_mist": start.fee_mist,
            "storage_mist": start.storage_mist,
        }
        for start, execution in zip(began, kept, strict=True)
    ]
    document = schedule_document(found) | _order_document(found.order)
    if session.output.as_json:
        session.output.document(document | {"executions": executions})
        return
    words = _for_people(found, document)
    words["leaders"] = ", ".join(document["leaders"])
    if found.collectable_mist:
        words["funds"] += f", including {units.sui(found.collectable_mist)} from ended executions"
    session.output.record(words)
    rows = [units.in_words(row) for row in executions]
    session.output.table(rows, _EXECUTIONS, empty="no executions yet")
    _note_earlier(session.output, found, len(executions))
    for row in executions:
        if row["status"] in _FAILED:
            session.output.note(f"details: `nexus-tools workflow show {row['execution']}`")
            break
    _advise(session.output, found)
    cursor = found.schedule.cursor
    if cursor is not None and cursor.checkpoint > latest:
        session.output.warn(
            f"the event cursor of {place} is at checkpoint {cursor.checkpoint}, ahead of the chain."
            " A leader reported an event that never happened, so real events are ignored. Run"
            f" `nexus-tools schedule reset-cursor {place} --leader LEADER` to name another leader"
        )


def _note_earlier(output: "Output", found: "ScheduleOverview", shown: int) -> None:
    """Note that the schedule started more executions than are shown."""
    started = found.schedule.started
    if shown < started:
        output.note(
            f"showing only the newest {shown} of {units.count(started, 'execution')}. Use --limit"
            " to show more"
        )


def schedule_document(found: "ScheduleOverview") -> dict[str, Any]:
    """Return a schedule as JSON, in MIST and ms. `running` counts executions that did not end."""
    return {
        "schedule": str(found.schedule.id),
        "workflow": str(found.workflow.fqn),
        "dag": str(found.schedule.dag),
        "state": found.state.value,
        "next_at_ms": found.next_at_ms,
        "started": found.schedule.started,
        "running": found.schedule.running - len(found.ended),
        "failures": found.failures,
        "missed": found.missed,
        "funds_mist": found.funds_mist,
        "collectable_mist": found.collectable_mist,
    }


def _order_document(order: "StandingOrder") -> dict[str, Any]:
    from nexus_tools.registry import describe_timing

    return {
        "when": describe_timing(order.timing),
        "max_late_ms": order.timing.max_late_ms,
        "funds_per_execution_mist": order.funds_per_execution_mist,
        "keeper_fee_mist": order.keeper_fee_mist,
        "overlaps": order.overlaps,
        "max_failures": order.max_failures,
        "max_executions": order.max_executions,
        "leaders": list(map(str, order.terms.leaders)),
    }


def _for_people(found: "ScheduleOverview", document: dict[str, Any]) -> dict[str, Any]:
    words = units.in_words(document)
    del words["dag"], words["collectable"]
    words["next"] = _next_in_words(found) if found.state.value == "active" else None
    return words


def _next_in_words(found: "ScheduleOverview") -> str:
    """Describe when an active schedule starts the next execution."""
    if found.next_at_ms is None:
        return "with the next event"
    if found.next_at_ms <= found.now_ms:
        return "now"
    time = units.utc(found.next_at_ms, found.now_ms)
    return f"with an event from {time} on" if found.is_by_event else time


def _advise(output: "Output", found: "ScheduleOverview") -> None:
    """Suggest to refill a schedule, or to withdraw its funds."""
    place, state = found.schedule.id, found.state.value
    if state == "active" and found.shortfall_mist:
        needed, lacking = (
            units.sui(found.needed_mist),
            units.format_sui_argument(found.shortfall_mist),
        )
        output.warn(
            f"the funds of {place} do not cover the next execution, which needs up to {needed}."
            f" Run `nexus-tools schedule refill {place} {lacking}` to add the shortfall"
        )
    if found.missed and not found.shortfall_mist:
        late_ms, missed = found.order.timing.max_late_ms, units.count(found.missed, "planned time")
        within = "" if late_ms is None else f" within {units.duration(late_ms)}"
        output.warn(
            f"{place} missed {missed}: no leader started an execution{within}. Run"
            " `nexus-tools leader list` to see whether its leaders are active"
        )
    if state in {"finished", "cancelled"} and found.funds_mist:
        back = units.sui(found.funds_mist)
        output.note(f"next: `nexus-tools schedule cancel {place}` withdraws its {back}")
