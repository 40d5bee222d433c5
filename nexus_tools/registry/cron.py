"""Times of a cron expression, for schedules at times."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nexus_tools.errors import UsageError

MAX_TIMES = 256
"""How many times a schedule has at most: `timing::MAX_TIMES`."""

_FIELDS = 5


def cron_times(
    expression: str, after_ms: int, *, until_ms: int | None = None, zone: str = "UTC"
) -> tuple[int, ...]:
    """The first 256 times after one, in ms since 1970, and none after `until_ms`.

    The expression has the five fields of crontab(5), minute to day of week, on the clocks of a zone
    of the IANA database. Where clocks are put forward, what they leave out is due right after;
    where they are put back, a time that comes twice is due once: so does Debian's cron. Raises
    `cron_invalid`, `time_zone_unknown` or `times_over`.
    """
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - for who has such a schedule

    start = datetime.fromtimestamp(after_ms / 1000, UTC).astimezone(_zone(zone))
    if len(expression.split()) != _FIELDS:
        raise _invalid(expression, f"it has not {_FIELDS} fields")
    try:
        times = CronSim(expression, start)
    except CronSimError as error:
        raise _invalid(expression, str(error)) from None
    except AssertionError:  # of `5L/2`
        raise _invalid(expression, "Bad day-of-week") from None
    found: list[int] = []
    for time in times:
        time_ms = round(time.timestamp() * 1000)
        if len(found) == MAX_TIMES or (until_ms is not None and time_ms > until_ms):
            break
        found.append(time_ms)
    if not found:
        raise UsageError("times_over", f"{expression[:80]!r} is not due any more")
    return tuple(found)


def _invalid(expression: str, reason: str) -> UsageError:
    return UsageError(
        "cron_invalid",
        f"{expression[:80]!r} is no cron expression: {reason}",
        hint="write minute, hour, day of month, month and day of week: 0 9 * * mon-fri",
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; a path; a folder
        raise UsageError(
            "time_zone_unknown",
            f"{name[:80]!r} is no time zone",
            hint="write one of the IANA database, as Europe/Berlin",
        ) from None
