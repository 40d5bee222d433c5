"""`nexus-tools schedule list | show`: what is planned, and what was begun."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, reads

if TYPE_CHECKING:
    from nexus_tools.package.move.workflows.schedule import Order, Schedule
    from nexus_tools.package.move.workflows.timing import Timing

_COLUMNS = {
    "schedule": "Schedule",
    "state": "State",
    "next": "Next",
    "begun": "Begun",
    "running": "Running",
    "funds": "Funds",
}
_EXECUTIONS = {
    "execution": "Execution",
    "planned": "Planned",
    "missed": "Missed",
    "fee": "Fee",
    "stored": "Stored",
}


@click.command("list")
@reads
async def list_schedules(session: Session) -> None:
    """List the schedules of the wallet that are not deleted, the oldest first.

    They are found by events, so a node tells of those that it keeps events of. With --json:
    `schedule`, `dag`, `state`, `next_at_ms`, `begun`, `running`, `failures` and `funds_mist`.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading events"):
            found = await nexus.schedules.list(session.own_address())
            now_ms = await nexus.client.now_ms()
    rows = [schedule_document(each) for each in found]
    if not session.output.as_json:
        rows = [_for_people(row, now_ms) for row in rows]
    empty = "you have no schedule: `nexus-tools schedule create` makes one"
    session.output.table(rows, _COLUMNS, empty=empty)


@click.command()
@click.argument("schedule")
@click.option(
    "--last", type=click.IntRange(min=1), default=20, show_default=True, help="So many executions."
)
@reads
async def show(session: Session, schedule: str, last: int) -> None:
    """Show a SCHEDULE, to what its owner agreed, and what it began, the newest first.

    With --json, besides what `list` has: `when`, `each_mist`, `keeper_fee_mist`, `overlaps`,
    `max_failures`, `max_executions`, `leaders` and `executions`.
    """
    from nexus_tools.sui.address import Address

    async with session.nexus(signing=False) as nexus:
        place = Address.parse(schedule)
        found = await nexus.schedules.get(place)
        order = await nexus.schedules.order(place)
        with session.output.progress("reading events"):
            began = await nexus.schedules.executions(place)
            now_ms = await nexus.client.now_ms()
    executions = [
        {
            "execution": str(each.execution),
            "planned_at_ms": each.planned_at_ms,
            "missed": each.missed,
            "fee_mist": each.fee_mist,
            "stored_mist": each.stored_mist,
        }
        for each in reversed(began[-last:])
    ]
    document = schedule_document(found) | _order_document(order)
    if session.output.as_json:
        session.output.document(document | {"executions": executions})
        return
    words = _for_people(document, now_ms)
    words["leaders"] = ", ".join(document["leaders"])
    session.output.record(words)
    rows = [units.in_words(each) for each in executions]
    session.output.table(rows, _EXECUTIONS, empty="it has begun nothing yet")
    if document["state"] == "active" and found.funds_mist < order.each_mist:
        hint = f"`nexus-tools schedule refill {schedule} AMOUNT` adds to them"
        session.output.warn(f"its funds are short of the next execution: {hint}")


def schedule_document(found: "Schedule") -> dict[str, Any]:
    """A schedule as JSON: amounts in MIST, times in ms."""
    return {
        "schedule": str(found.id),
        "dag": str(found.dag),
        "state": found.state.value,
        "next_at_ms": found.next_at_ms,
        "begun": found.begun,
        "running": found.running,
        "failures": found.failures,
        "funds_mist": found.funds_mist,
    }


def _order_document(order: "Order") -> dict[str, Any]:
    return {
        "when": in_words(order.timing),
        "each_mist": order.each_mist,
        "keeper_fee_mist": order.keeper_fee_mist,
        "overlaps": order.overlaps,
        "max_failures": order.max_failures,
        "max_executions": order.max_executions,
        "leaders": list(map(str, order.terms.leaders)),
    }


def in_words(timing: "Timing") -> str:
    """When something is due, for people."""
    from nexus_tools.package.move.workflows.timing import Plan

    match timing.plan:
        case Plan.Every(interval_ms, _, until_ms):
            end = f", until {units.utc(until_ms)}" if until_ms is not None else ""
            return f"every {units.duration(interval_ms)}{end}"
        case Plan.At(times):
            return f"at {units.count(len(times), 'time')}, the last one {units.utc(times[-1])}"
        case Plan.OnEvent(event, pause_ms):
            pause = f", at most once in {units.duration(pause_ms)}" if pause_ms else ""
            return f"on {event}{pause}"


def _for_people(document: dict[str, Any], now_ms: int) -> dict[str, Any]:
    words = units.in_words(document)
    next_at_ms = document["next_at_ms"]
    if document["state"] != "active":
        words["next"] = None
    elif next_at_ms is not None:
        words["next"] = units.utc(next_at_ms, now_ms) if next_at_ms > now_ms else "now"
    return words
