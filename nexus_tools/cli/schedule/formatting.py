"""`nexus-tools schedule list | show`: what is planned, and what was begun."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, reads
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.cli.framework import Output
    from nexus_tools.contracts.move_bindings.workflows.schedule import Order
    from nexus_tools.contracts.move_bindings.workflows.timing import Timing
    from nexus_tools.registry import ScheduleStanding

_COLUMNS = {
    "schedule": "Schedule",
    "workflow": "Workflow",
    "state": "State",
    "next": "Next",
    "begun": "Begun",
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
@reads
async def list_schedules(session: Session) -> None:
    """List the schedules of the wallet that are not deleted, the oldest first.

    They are found by events, so a node tells of those that it keeps events of. With --json:
    `schedule`, `workflow`, `dag`, `state`, `next_at_ms`, `begun`, `running`, `failures`, `missed`,
    `funds_mist`, and `to_collect_mist` of them, which executions left that have ended. `missed`
    counts planned times since the last execution for which none starts any more.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading events"):
            found = await nexus.schedules.standings(session.own_address())
    rows = [schedule_document(each) for each in found]
    if not session.output.as_json:
        rows = [_for_people(each, row) for each, row in zip(found, rows, strict=True)]
    empty = "you have no schedule: `nexus-tools schedule create` makes one"
    session.output.table(rows, _COLUMNS, empty=empty)
    for each in found:
        _advise(session.output, each)


@click.command()
@click.argument("schedule")
@click.option(
    "--last", type=click.IntRange(min=1), default=20, show_default=True, help="So many executions."
)
@reads
async def show(session: Session, schedule: str, last: int) -> None:
    """Show a SCHEDULE, to what its owner agreed, and what it began, the newest first.

    With --json, besides what `list` has: `when`, `max_late_ms`, `each_mist`, `keeper_fee_mist`,
    `overlaps`, `max_failures`, `max_executions`, `leaders` and `executions`.
    """
    from nexus_tools.contracts.move_bindings.workflows.execution import Execution
    from nexus_tools.registry import status_of
    from nexus_tools.sui.types.address import Address

    async with session.nexus(signing=False) as nexus:
        place = Address.parse_whole(schedule)
        with session.output.progress("reading events"):
            found = await nexus.schedules.standing(place)
            began = (await nexus.schedules.executions(place))[-last:]
            kept = await nexus.executions.find_all([each.execution for each in began], Execution)
            latest = await nexus.client.latest_checkpoint()
    executions = [
        {
            "execution": str(each.execution),
            "status": "cleaned" if execution is None else status_of(execution).value,
            "planned_at_ms": each.planned_at_ms,
            "missed": each.missed,
            "fee_mist": each.fee_mist,
            "stored_mist": each.stored_mist,
        }
        for each, execution in reversed([*zip(began, kept, strict=True)])
    ]
    document = schedule_document(found) | _order_document(found.order)
    if session.output.as_json:
        session.output.document(document | {"executions": executions})
        return
    words = _for_people(found, document)
    words["leaders"] = ", ".join(document["leaders"])
    if found.to_collect_mist:
        words["funds"] += f", {units.sui(found.to_collect_mist)} of it left by what has ended"
    session.output.record(words)
    rows = [units.in_words(each) for each in executions]
    session.output.table(rows, _EXECUTIONS, empty="it has begun nothing yet")
    for each in executions:
        if each["status"] in _FAILED:
            session.output.note(f"why: `nexus-tools workflow show {each['execution']}`")
            break
    _advise(session.output, found)
    cursor = found.schedule.cursor
    if cursor is not None and cursor.checkpoint > latest:
        session.output.warn(
            f"the last event of {place} lies at checkpoint {cursor.checkpoint}, ahead of the chain:"
            " a leader reported an event that never happened, and later ones do not count;"
            f" `nexus-tools schedule reset-cursor {place} --leader LEADER` names another leader"
        )


def schedule_document(found: "ScheduleStanding") -> dict[str, Any]:
    """A schedule as JSON: amounts in MIST, times in ms; what has ended does not run."""
    return {
        "schedule": str(found.schedule.id),
        "workflow": str(found.workflow.fqn),
        "dag": str(found.schedule.dag),
        "state": found.state.value,
        "next_at_ms": found.next_at_ms,
        "begun": found.schedule.begun,
        "running": found.schedule.running - len(found.left),
        "failures": found.failures,
        "missed": found.missed,
        "funds_mist": found.funds_mist,
        "to_collect_mist": found.to_collect_mist,
    }


def _order_document(order: "Order") -> dict[str, Any]:
    return {
        "when": in_words(order.timing),
        "max_late_ms": order.timing.max_late_ms,
        "each_mist": order.each_mist,
        "keeper_fee_mist": order.keeper_fee_mist,
        "overlaps": order.overlaps,
        "max_failures": order.max_failures,
        "max_executions": order.max_executions,
        "leaders": list(map(str, order.terms.leaders)),
    }


def in_words(timing: "Timing") -> str:
    """When something is due, for people."""
    from nexus_tools.contracts.move_bindings.workflows.timing import Plan

    match timing.plan:
        case Plan.Every(interval_ms, _, until_ms):
            end = f", until {units.utc(until_ms)}" if until_ms is not None else ""
            return f"every {units.duration(interval_ms)}{end}"
        case Plan.At(times):
            return f"at {units.count(len(times), 'time')}, the last one {units.utc(times[-1])}"
        case Plan.OnEvent(event, pause_ms, max_per_day):
            pause = f"at most once in {units.duration(pause_ms)}"
            return f"on {event}, {pause} and {units.count(max_per_day, 'time')} a day"


def _for_people(found: "ScheduleStanding", document: dict[str, Any]) -> dict[str, Any]:
    words = units.in_words(document)
    del words["dag"], words["to_collect"]
    words["next"] = _next_in_words(found) if found.state.value == "active" else None
    return words


def _next_in_words(found: "ScheduleStanding") -> str:
    """When an active schedule begins something next."""
    if found.next_at_ms is None:
        return "with the next event"
    if found.next_at_ms <= found.now_ms:
        return "now"
    time = units.utc(found.next_at_ms, found.now_ms)
    return f"by an event from {time} on" if found.is_by_event else time


def _advise(output: "Output", found: "ScheduleStanding") -> None:
    """What its owner should do about a schedule: fill it up, or take back what it has."""
    place, state = found.schedule.id, found.state.value
    if state == "active" and found.lacks_mist:
        needed, lacking = units.sui(found.needed_mist), units.rounded_up(found.lacks_mist)
        output.warn(
            f"the funds of {place} are short of the next execution, which takes up to {needed}:"
            f" `nexus-tools schedule refill {place} {lacking}` adds what is lacking"
        )
    if found.missed and not found.lacks_mist:
        late_ms, missed = found.order.timing.max_late_ms, units.count(found.missed, "planned time")
        within = "" if late_ms is None else f" within {units.duration(late_ms)}"
        output.warn(
            f"{place} missed {missed}: no leader started an execution{within};"
            " `nexus-tools leader list` shows whether the leaders that it names are active"
        )
    if state in {"finished", "cancelled"} and found.funds_mist:
        back = units.sui(found.funds_mist)
        output.note(f"next: `nexus-tools schedule cancel {place}` takes back the {back} of it")
