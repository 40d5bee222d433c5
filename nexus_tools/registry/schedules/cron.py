"""Planned times of cron expressions, for schedules with a list of times."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nexus_tools.errors import UsageError

MAX_TIMES = 256
"""The maximum number of planned times of a schedule. Source: `timing::MAX_TIMES`."""

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
    """Return the next 256 times of a cron expression, in ms since 1970, up to `until_ms`.

    The expression has the five fields of crontab(5), from minute to day of week, or is a nickname
    such as `@daily`. The expression is evaluated in the time zone `zone`, a name of the IANA
    database.

    Changes to and from daylight saving time are handled as in Debian's cron. If the minute or hour
    field starts with `*`, the expression is due at each matching local time. A time in a skipped
    hour is therefore never due, and a time in a repeated hour is due twice. In other expressions, a
    skipped time is due right after the change, and a repeated time is due once.

    Raises `cron_invalid`, `time_zone_unknown`, or `no_future_time` if no time remains.
    """
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - few users need it

    start = datetime.fromtimestamp(after_ms / 1000, UTC).astimezone(_zone(zone))
    fields = _NICKNAMES.get(expression.strip().lower(), expression)
    if len(fields.split()) != _FIELDS:
        raise _invalid(expression, f"it does not have {_FIELDS} fields")
    try:
        times = CronSim(fields, start)
    except CronSimError as error:
        raise _invalid(expression, str(error)) from None
    except AssertionError:  # CronSim raises it, for example, for `5L/2`
        raise _invalid(expression, "Bad day-of-week") from None
    results: list[int] = []
    for time in times:
        time_ms = round(time.timestamp() * 1000)
        if len(results) == MAX_TIMES or (until_ms is not None and time_ms > until_ms):
            break
        results.append(time_ms)
    if not results:
        raise UsageError(
            "no_future_time", f"{expression[:80]!r} has no time in the requested range"
        )
    return tuple(results)


def _invalid(expression: str, reason: str) -> UsageError:
    return UsageError(
        "cron_invalid",
        f"{expression[:80]!r} is not a valid cron expression: {reason}",
        hint="Write minute, hour, day of month, month and day of week, such as 0 9 * * mon-fri,"
        f" or one of {', '.join(_NICKNAMES)}.",
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # an unknown name, a path or a folder
        raise UsageError(
            "time_zone_unknown",
            f"{name[:80]!r} is not a time zone",
            hint="Use a name of the IANA database, such as Europe/Berlin.",
        ) from None
