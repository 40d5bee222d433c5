"""Times of a cron expression, for schedules at times."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nexus_tools.errors import UsageError

MAX_TIMES = 256
"""How many times a schedule has at most: `timing::MAX_TIMES`."""

_FIELDS = 5
_NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def cron_times(
    expression: str, after_ms: int, *, until_ms: int | None = None, zone: str = "UTC"
) -> tuple[int, ...]:
    """Return the first 256 times after one, in ms since 1970, and none after `until_ms`.

    The expression has the five fields of crontab(5), minute to day of week, or is a nickname such
    as `@daily`. Times are on the clocks of a zone of the IANA database. Where clocks change, they
    are those of Debian's cron. If minute or hour begins with `*`, the expression is due at each
    time that the clocks show and that fits: in a skipped hour not at all, in a repeated hour twice.
    Otherwise a skipped time is due right after the change, and a repeated time once. Raises
    `cron_invalid`, `time_zone_unknown` or `times_over`.
    """
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - for who has such a schedule

    start = datetime.fromtimestamp(after_ms / 1000, UTC).astimezone(_zone(zone))
    fields = _NICKNAMES.get(expression.strip().lower(), expression)
    if len(fields.split()) != _FIELDS:
        raise _invalid(expression, f"it does not have {_FIELDS} fields")
    try:
        times = CronSim(fields, start)
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
        f"{expression[:80]!r} is not a valid cron expression: {reason}",
        hint="write minute, hour, day of month, month and day of week, such as 0 9 * * mon-fri,"
        f" or one of {', '.join(_NICKNAMES)}",
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
