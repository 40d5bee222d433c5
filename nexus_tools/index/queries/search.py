"""The rows that a search for tools reads."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from nexus_tools.contracts import ToolState
from nexus_tools.index.outcomes import SETTLED, TOOL_FAULTS
from nexus_tools.index.queries.scan import Scan
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort, scan_tools
from nexus_tools.index.tool_text import ToolText

_FAULTS = " + ".join(sorted(TOOL_FAULTS))

_MAX_REQUESTS = 2_000

Admits = Callable[[str, str], bool]
"""A function that returns whether a tool with an FQN and a description is wanted."""


class Standing(Struct, frozen=True):
    """The values by which candidates are ordered.

    `settled` and `faults` count the invocations of the accounts for which the search is made, and
    `own_volume_mist` is the amount that these accounts paid.
    """

    fqn: str
    reputation: float
    price_mist: int
    volume_mist: int
    last_seen_ms: int
    registration: int
    settled: int
    faults: int
    own_volume_mist: int

    @property
    def experience(self) -> int:
        """1 if the accounts had more successes than failures, 0 without invocations, or else -1."""
        if self.settled > self.faults:
            return 1
        return -1 if self.faults else 0


def read_texts(
    connection: sqlite3.Connection,
    tools: Sequence[int],
    tool_filter: IndexedToolFilter,
    admits: Admits | None,
) -> Mapping[int, ToolText]:
    """Return the texts of those tools that are active and match the filters."""
    scan = scan_tools(connection, tool_filter, ToolSort.NEWEST)
    if scan is None:
        return {}
    where, values = _where(scan, "state = ?")
    # `CROSS JOIN` finds rows by ID. A filter could select an SQL index with many more rows.
    rows: Iterable[tuple[int, str, str, str, int]] = connection.execute(
        "SELECT tools.id, fqn, description, coalesce(words, ''), change"  # noqa: S608 - constant names
        " FROM json_each(?) AS chosen CROSS JOIN tools ON tools.id = chosen.value"
        f" LEFT JOIN definitions ON tool = tools.id WHERE {where}",
        (json.dumps(tools), *values),
    )
    return {
        tool: ToolText(tool, fqn, description, words, change, is_listed=True)
        for tool, fqn, description, words, change in rows
        if admits is None or admits(fqn, description)
    }


def _where(scan: Scan, has_state: str) -> tuple[str, list[object]]:
    """Return the conditions of a scan, and that the tool is active."""
    parts = [(has_state, (ToolState.ACTIVE.value,)), *scan.within, *scan.matching]
    where = " AND ".join(condition for condition, _ in parts)
    return where, [value for _, values in parts for value in values]


def read_names(
    connection: sqlite3.Connection,
    tool_filter: IndexedToolFilter,
    admits: Admits | None,
    limit: int,
    offset: int,
) -> tuple[list[str], int]:
    """Return FQNs of active tools in the order of names, and the number of all such tools.

    With `admits`, the duration depends on the number of tools.
    """
    scan = scan_tools(connection, tool_filter, ToolSort.NEWEST)
    if scan is None:
        return [], 0
    where, values = _where(scan, "state = ?")
    rest = f"FROM tools WHERE {where}"
    if admits is not None:
        rows = connection.execute(f"SELECT fqn, description {rest} ORDER BY fqn", values)
        names = [fqn for fqn, description in rows if admits(fqn, description)]
        return list(islice(names, offset, offset + limit)), len(names)
    ((total,),) = connection.execute(f"SELECT count(*) {rest}", values)
    statement = f"SELECT fqn {rest} ORDER BY fqn LIMIT ? OFFSET ?"
    return [fqn for (fqn,) in connection.execute(statement, (*values, limit, offset))], total


def read_standings(
    connection: sqlite3.Connection, tools: Sequence[int], requesters: Collection[int]
) -> Mapping[int, Standing]:
    """Return the values by which candidates are ordered."""
    rows = connection.execute(
        "SELECT id, fqn, reputation, price_mist, volume_mist, last_seen_ms, registration,"  # noqa: S608 - constant names
        " coalesce(settled, 0), coalesce(faults, 0), coalesce(own_mist, 0) FROM tools LEFT JOIN ("
        f"  SELECT subject, sum({SETTLED}) AS settled, sum({_FAULTS}) AS faults,"
        "  sum(pairs.volume_mist) AS own_mist FROM pairs"
        "  WHERE subject IN (SELECT value FROM json_each(:tools))"
        "  AND requester IN (SELECT value FROM json_each(:requesters)) GROUP BY subject"
        ") ON subject = id WHERE id IN (SELECT value FROM json_each(:tools))",
        {"tools": json.dumps(tools), "requesters": json.dumps([*requesters])},
    )
    return {tool: Standing(*values) for tool, *values in rows}


def read_called(
    connection: sqlite3.Connection, tool_filter: IndexedToolFilter, requesters: Sequence[int]
) -> Sequence[int]:
    """Return the tools of the newest requests of accounts, if they match the filter."""
    scan = scan_tools(connection, tool_filter, ToolSort.NEWEST)
    if scan is None:
        return ()
    called: set[int] = set()
    for requester in requesters:
        rows = connection.execute(
            "SELECT DISTINCT tool FROM"
            " (SELECT tool FROM requests WHERE requester = ? ORDER BY seq DESC LIMIT ?)",
            (requester, _MAX_REQUESTS),
        )
        called.update(tool for (tool,) in rows)
    parts = [*scan.within, *scan.matching]
    where = " AND ".join(["id IN (SELECT value FROM json_each(?))", *(part for part, _ in parts)])
    values = [value for _, part in parts for value in part]
    rows = connection.execute(
        f"SELECT id FROM tools WHERE {where} ORDER BY id",  # noqa: S608 - constant names
        (json.dumps(sorted(called)), *values),
    )
    return [tool for (tool,) in rows]


def read_vectors(connection: sqlite3.Connection, tools: Sequence[int]) -> Mapping[int, bytes]:
    """Return the vectors of those tools that have one."""
    return _read_column(connection, "vector", tools)


def read_text_digests(connection: sqlite3.Connection, tools: Sequence[int]) -> Mapping[int, bytes]:
    """Return the digests of the texts from which the vectors of tools were computed."""
    return _read_column(connection, "text_digest", tools)


def read_vectors_after(
    connection: sqlite3.Connection, tool: int, limit: int
) -> Mapping[int, bytes]:
    """Return at most `limit` vectors of tools with larger numbers, in the order of numbers."""
    rows = connection.execute(
        "SELECT tool, vector FROM vectors WHERE tool > ? ORDER BY tool LIMIT ?", (tool, limit)
    )
    return dict(rows.fetchall())


def _read_column(
    connection: sqlite3.Connection, column: str, tools: Sequence[int]
) -> Mapping[int, bytes]:
    rows = connection.execute(
        f"SELECT tool, {column} FROM vectors WHERE tool IN (SELECT value FROM json_each(?))",  # noqa: S608 - constant names
        (json.dumps(tools),),
    )
    return dict(rows.fetchall())
