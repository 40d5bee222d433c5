"""The performance of tools and leaders from the totals of an index."""

import sqlite3
from collections.abc import Sequence

from nexus_tools.index.outcomes import OUTCOMES, percentile_ms
from nexus_tools.index.queries.records import DayStats, Performance, Windows
from nexus_tools.index.schema import COUNTS
from nexus_tools.index.totals import ALL, DAY_MS, HOUR_MS, HOURS, RANKED_DAYS

_SUMS = ", ".join(f"coalesce(sum({column}), 0)" for column in COUNTS)
_COLUMNS = ", ".join(COUNTS)
_VOLUME = len(OUTCOMES)
_READ = f"SELECT {_SUMS}, coalesce(sum(last_requesters), 0) FROM"
_READ_DAYS = f"{_READ} days WHERE subject = ? AND period > ?"
_READ_HOURS = f"{_READ} hours WHERE subject = ? AND period IN ({', '.join('?' * HOURS)})"


def read_windows(connection: sqlite3.Connection, subject: int, now_ms: int) -> Windows:
    """Return the performance of a tool or leader in the periods before a time."""
    return Windows(
        read_last_hours(connection, subject, now_ms),
        _read_days(connection, subject, now_ms // DAY_MS - 7),
        read_record(connection, subject, now_ms),
    )


def read_last_hours(connection: sqlite3.Connection, subject: int, now_ms: int) -> Performance:
    """Return the performance of a tool or leader in the last 24 hours."""
    oldest = now_ms // HOUR_MS - 23
    row = connection.execute(_READ_HOURS, (subject, *range(oldest, oldest + HOURS))).fetchone()
    return _performance(row[:-1], row[-1])


def read_record(connection: sqlite3.Connection, subject: int, now_ms: int) -> Performance:
    """Return the performance of a tool or leader in the last 30 days, including today."""
    return _read_days(connection, subject, now_ms // DAY_MS - RANKED_DAYS)


def read_for_requesters(
    connection: sqlite3.Connection, subject: int, requesters: Sequence[int]
) -> Performance:
    """Return the performance of a tool or leader for some requesters, since the index starts."""
    if not requesters:
        return _performance([0] * len(COUNTS), None)
    marks = ", ".join("?" * len(requesters))
    row = connection.execute(
        f"SELECT {_SUMS} FROM pairs WHERE subject = ? AND requester IN ({marks})",  # noqa: S608 - constant names
        (subject, *requesters),
    ).fetchone()
    return _performance(row, None)


def read_days(
    connection: sqlite3.Connection, days: int, now_ms: int, subject: int = ALL
) -> tuple[DayStats, ...]:
    """Return the closings of a subject, by default all tools, on the last days that have closings.

    The newest day comes first.
    """
    rows = connection.execute(
        f"SELECT period, {_COLUMNS}, NULL FROM days"  # noqa: S608 - constant names
        " WHERE subject = ? AND period > ? ORDER BY period DESC",
        (subject, now_ms // DAY_MS - days),
    )
    return tuple(
        DayStats(period * DAY_MS, _performance(counts, None)) for period, *counts, _ in rows
    )


def _read_days(connection: sqlite3.Connection, subject: int, after: int) -> Performance:
    row = connection.execute(_READ_DAYS, (subject, after)).fetchone()
    return _performance(row[:-1], row[-1])


def _performance(counts: Sequence[int], requesters: int | None) -> Performance:
    latencies = counts[_VOLUME + 1 :]
    return Performance(
        {name: count for name, count in zip(OUTCOMES, counts, strict=False) if count},
        counts[_VOLUME],
        percentile_ms(latencies, 0.5),
        percentile_ms(latencies, 0.95),
        requesters,
    )
