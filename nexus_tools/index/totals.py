"""Totals of tools and leaders per day, hour and requester, and the values by which lists sort.

A closing counts for its tool, for its leaders, and for the whole network. Each of them is a
*subject*. The amount of a tool is the price, and that of a leader is the fee.

The totals per requester are the own experience of an account. They omit the tool of a run if
another account published the workflow, because the publisher chose this tool.

To count the requesters of a period in constant time, each day and hour counts the requesters whose
last closing is in it. The requesters of the last 30 days are therefore a sum of 30 numbers.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from nexus_tools.index.event_rows import Closing
from nexus_tools.index.outcomes import (
    CODES,
    LEADER_FAULTS,
    MISSED,
    OUTCOMES,
    TOOL_FAULTS,
    bucket_of,
    verdict,
)
from nexus_tools.index.schema import COUNTS, LAST

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ALL = 0
"""The subject for which every closing counts, with the price as the amount."""
RANKED_DAYS = 30
"""The number of days, up to the newest event, by which lists sort."""
HOURS = 48
"""The number of hours of which totals are stored."""

_VOLUME = COUNTS.index("volume_mist")
_LATENCY = _VOLUME + 1
_LAST_REQUESTERS, _LAST_GOOD, _LAST_BAD = range(len(COUNTS), len(COUNTS) + len(LAST))
# With a doubt of 4, a tool or leader needs several requesters before its record counts.
_DOUBT = 4

_Key = tuple[int, int]


def _upsert(
    table: str, keys: Sequence[str], counts: Sequence[str], values: Sequence[str] = ()
) -> str:
    """Return a statement that adds `counts` to a row, and replaces `values`."""
    columns = (*keys, *counts, *values)
    changes = [f"{column} = {column} + excluded.{column}" for column in counts]
    changes += [f"{column} = excluded.{column}" for column in values]
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - constant names
        f" ON CONFLICT DO UPDATE SET {', '.join(changes)}"
    )


_ADD_TO_PERIOD = {
    table: _upsert(table, ("subject", "period"), (*COUNTS, *LAST)) for table in ("days", "hours")
}
_ADD_TO_PAIR = _upsert("pairs", ("subject", "requester"), COUNTS, ("last_hour", "last_verdict"))
_LAST_OF_PAIR = "SELECT last_hour, last_verdict FROM pairs WHERE subject = ? AND requester = ?"
_FOREIGN = (
    "SELECT requests.seq FROM json_each(?) AS closed"
    " CROSS JOIN requests ON requests.seq = closed.value"
    " LEFT JOIN executions ON executions.id = execution"
    " LEFT JOIN workflows ON workflows.id = workflow"
    " WHERE execution IS NOT NULL AND publisher IS NOT requester"
)

_CLOSED = """
    SELECT subject, max(at_ms) FROM (
        SELECT tool AS subject, at_ms FROM closings WHERE seq > :after
        UNION ALL SELECT leader, at_ms FROM closings WHERE seq > :after AND NOT is_open
        UNION ALL SELECT missed, at_ms FROM closings WHERE seq > :after AND NOT is_open
        UNION ALL SELECT also_missed, at_ms FROM closings WHERE seq > :after AND NOT is_open
    ) WHERE subject IS NOT NULL GROUP BY subject
"""
"""Reads the subjects of the closings after an event, as `_shares` does, and their last times."""


class _Share(Struct, frozen=True):
    """The part of a closing that counts for one tool or leader."""

    subject: int
    outcome: str
    verdict: bool | None
    amount_mist: int


class _Pair(Struct):
    """The counts of new closings of a subject and a requester, and the last closing of both."""

    counts: list[int]
    last_hour: int
    last_verdict: bool | None = None


def _shares(closing: Closing) -> Iterator[_Share]:
    outcome = OUTCOMES[closing.outcome]
    yield _Share(ALL, outcome, None, closing.price_mist)
    yield _Share(closing.tool, outcome, verdict(outcome, TOOL_FAULTS), closing.price_mist)
    if closing.is_open:  # anyone may close it, so it is not evidence about a leader
        return
    if closing.leader is not None:
        judged = verdict(outcome, LEADER_FAULTS)
        yield _Share(closing.leader, outcome, judged, closing.fee_mist)
    for leader in (closing.missed, closing.also_missed):
        if leader is not None:
            yield _Share(leader, MISSED, verdict(MISSED, LEADER_FAULTS), 0)


class Totals:
    """The tables of totals."""

    def __init__(self, connection: sqlite3.Connection, ranked_seq: int, ranked_ms: int) -> None:
        """Create the totals. The sort values are those of the event `ranked_seq`."""
        self._connection = connection
        self.ranked_seq = ranked_seq
        self.ranked_ms = ranked_ms

    def add(self, closings: Collection[Closing], newest_ms: int) -> None:
        """Add closings, in order. The executions of their runs must be in the index already.

        `newest_ms` is the time of the newest event.
        """
        oldest_hour = newest_ms // HOUR_MS - HOURS + 1
        days: dict[_Key, list[int]] = {}
        hours: dict[_Key, list[int]] = {}
        pairs: dict[_Key, _Pair] = {}
        foreign = self._foreign(closings)
        for closing in closings:
            hour = closing.at_ms // HOUR_MS
            for share in _shares(closing):
                pair = pairs.get((share.subject, closing.requester))
                if pair is None:
                    pair = pairs[share.subject, closing.requester] = _Pair([0] * len(COUNTS), hour)
                targets = [_counts(days, (share.subject, hour // 24))]
                if share.subject != closing.tool or closing.request not in foreign:
                    targets.append(pair.counts)
                if hour >= oldest_hour:
                    targets.append(_counts(hours, (share.subject, hour)))
                for counts in targets:
                    _count(counts, closing, share)
                pair.last_hour = hour
                if share.verdict is not None:
                    pair.last_verdict = share.verdict
        self._write_pairs(pairs, days, hours, oldest_hour)
        self._write_periods("days", days)
        self._write_periods("hours", hours)
        self._connection.execute("DELETE FROM hours WHERE period < ?", (oldest_hour,))

    def _foreign(self, closings: Collection[Closing]) -> set[int]:
        """Return the requests of runs whose workflow another account than the requester published.

        These include runs of an execution or a workflow that is older than the index.
        """
        requests = json.dumps([closing.request for closing in closings])
        return {request for (request,) in self._connection.execute(_FOREIGN, (requests,))}

    def _write_pairs(
        self,
        pairs: Mapping[_Key, _Pair],
        days: dict[_Key, list[int]],
        hours: dict[_Key, list[int]],
        oldest_hour: int,
    ) -> None:
        """Write pairs, and move their requesters to the period of their last closing.

        The order of the primary key reads each page of the table once.
        """
        rows = []
        for key, pair in sorted(pairs.items()):
            old = self._connection.execute(_LAST_OF_PAIR, key).fetchone()
            if old is not None and pair.last_verdict is None:
                pair.last_verdict = old[1]
            changes = [(pair.last_hour, pair.last_verdict, 1)]
            if old is not None:
                changes.append((*old, -1))
            for hour, judged, step in changes:
                periods = [_counts(days, (key[0], hour // 24))]
                if hour >= oldest_hour:
                    periods.append(_counts(hours, (key[0], hour)))
                for counts in periods:
                    counts[_LAST_REQUESTERS] += step
                    if judged is not None:
                        counts[_LAST_GOOD if judged else _LAST_BAD] += step
            rows.append((*key, *pair.counts, pair.last_hour, pair.last_verdict))
        self._connection.executemany(_ADD_TO_PAIR, rows)

    def _write_periods(self, table: str, totals: Mapping[_Key, list[int]]) -> None:
        rows = [(*key, *counts) for key, counts in sorted(totals.items())]
        self._connection.executemany(_ADD_TO_PERIOD[table], rows)

    # --- The values by which lists sort

    def rank(self, last_seq: int, newest_ms: int) -> None:
        """Update the sort values of subjects with new closings, or whose old days expire.

        `last_seq` is the newest event.
        """
        newest_day, ranked_day = newest_ms // DAY_MS, self.ranked_ms // DAY_MS
        seen_ms = dict(self._connection.execute(_CLOSED, {"after": self.ranked_seq}))
        if newest_day > ranked_day:
            for (subject,) in self._connection.execute(
                "SELECT DISTINCT subject FROM days WHERE period > ? AND period <= ?",
                (ranked_day - RANKED_DAYS, newest_day - RANKED_DAYS),
            ):
                seen_ms.setdefault(subject, 0)
        for subject, at_ms in sorted(seen_ms.items()):
            good, bad, volume_mist = self._connection.execute(
                "SELECT total(last_good), total(last_bad), coalesce(sum(volume_mist), 0) FROM days"
                " WHERE subject = ? AND period > ?",
                (subject, newest_day - RANKED_DAYS),
            ).fetchone()
            values = (smoothed_share(good, bad), volume_mist, at_ms, subject)
            for table in ("tools", "leaders"):
                self._connection.execute(
                    f"UPDATE {table} SET reputation = ?, volume_mist = ?,"  # noqa: S608 - constant names
                    " last_seen_ms = max(last_seen_ms, ?) WHERE id = ?",
                    values,
                )
        self.ranked_seq, self.ranked_ms = last_seq, newest_ms


def _counts(totals: dict[_Key, list[int]], key: _Key) -> list[int]:
    counts = totals.get(key)
    if counts is None:
        counts = totals[key] = [0] * (len(COUNTS) + len(LAST))
    return counts


def _count(counts: list[int], closing: Closing, share: _Share) -> None:
    counts[CODES[share.outcome]] += 1
    counts[_VOLUME] += share.amount_mist
    if share.outcome != MISSED and closing.latency_ms is not None:
        counts[_LATENCY + bucket_of(closing.latency_ms)] += 1


def smoothed_share(good: float, bad: float) -> float:
    """Return the share of good requesters between 0 and 1, which is ½ without any requester."""
    return (good + _DOUBT) / (good + bad + 2 * _DOUBT)
