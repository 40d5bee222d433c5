"""The command `nexus-tools schedule extend`: more times, a later end, or more executions."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, transaction_command
from nexus_tools.cli.schedule.control import SCHEDULE, change_schedule
from nexus_tools.cli.schedule.timing import parse_future_time, parse_time
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.registry import ScheduleOverview


@click.command()
@SCHEDULE
@click.option(
    "--cron", metavar="EXPR", help="Add the next times of a cron expression, up to the limit."
)
@click.option("--time-zone", metavar="NAME", help="Time zone of --cron. Default: UTC.")
@click.option(
    "--at", "times", multiple=True, metavar="TIME", help="Add a planned time. May be repeated."
)
@click.option("--until", metavar="TIME", help="New last planned time of a schedule with --every.")
@click.option(
    "--add-executions", "count", type=click.IntRange(min=1), help="Number of executions to add."
)
@transaction_command
async def extend(
    session: Session,
    *,
    schedule: str,
    cron: str | None,
    time_zone: str | None,
    times: tuple[str, ...],
    until: str | None,
    count: int | None,
) -> None:
    """Plan more executions of a SCHEDULE. A finished schedule continues.

    --cron and --at add times to a schedule that was created with --cron or --at. A schedule has at
    most 256 planned times, not counting past times. With --json, the fields are `schedule`,
    `added`, `until_ms` and `max_executions`.
    """
    from nexus_tools.sui.types.address import Address

    _check(cron, time_zone, times, until, count)
    place = Address.parse_whole(schedule)
    until_ms = parse_time(until) if until else None
    async with session.nexus() as nexus:
        found = await nexus.schedules.overview(place)
        more = _more_times(found, cron, time_zone, times)
        limit = _limit(found, count)
        facts: dict[str, Any] = {"added": len(more), "until_ms": until_ms, "max_executions": limit}
        await change_schedule(
            session,
            nexus,
            place,
            lambda service, schedule_id: service.extend(
                schedule_id, times=more, until_ms=until_ms, max_executions=limit
            ),
            f"added {units.count(len(more), 'planned time')} to" if more else "extended",
            facts=facts,
        )


def _check(
    cron: str | None,
    time_zone: str | None,
    times: tuple[str, ...],
    until: str | None,
    count: int | None,
) -> None:
    if cron is not None and times:
        raise UsageError("timing_missing", "--cron and --at cannot be combined")
    if time_zone and cron is None:
        raise UsageError("timing_missing", "--time-zone needs --cron")
    if cron is None and not times and until is None and count is None:
        raise UsageError("extension_empty", "pass --cron, --at, --until or --add-executions")


def _more_times(
    found: "ScheduleOverview", cron: str | None, time_zone: str | None, texts: tuple[str, ...]
) -> tuple[int, ...]:
    """Return the times to add. A cron expression fills the schedule up to its limit."""
    from nexus_tools.contracts.move_bindings.workflows.timing import Plan
    from nexus_tools.registry import cron_times

    if cron is None:
        return tuple(sorted({parse_future_time(text, found.now_ms) for text in texts}))
    plan = found.order.timing.plan
    last_ms = plan.times[-1] if isinstance(plan, Plan.At) else 0
    times = cron_times(cron, max(last_ms, found.now_ms), zone=time_zone or "UTC")
    if not found.free_times:
        raise WrongStateError(
            "planned_times_full",
            f"the schedule {found.schedule.id} already has {len(found.remaining_times)} planned"
            " times",
            hint="Extend the schedule after its next planned time,"
            f" {units.utc(found.remaining_times[0])}. A schedule has at most 256 planned times.",
        )
    return times[: found.free_times]


def _limit(found: "ScheduleOverview", count: int | None) -> int | None:
    """Return the new limit: `count` plus the larger of old limit and started executions."""
    if count is None:
        return None
    limit = found.order.max_executions
    if limit is None:
        raise UsageError(
            "executions_unlimited",
            f"the number of executions of the schedule {found.schedule.id} is not limited",
        )
    return max(limit, found.schedule.started) + count
