"""Active tools in the order of their registration."""

import json
import sqlite3

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.contracts import ToolState
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort, scan_tools


class RegisteredTool(Struct, frozen=True):
    """A tool with its position in the registry's list of names."""

    registration: int
    fqn: str
    description: str


class RegisteredTools(Struct, frozen=True):
    """Tools in the order of their registration.

    `next` is the position at which the next tools start. If `is_end` is True, the index knows no
    registration from this position on.
    """

    items: tuple[RegisteredTool, ...]
    next: int
    is_end: bool


def read_registered(
    connection: sqlite3.Connection, start: int, tool_filter: IndexedToolFilter, limit: int
) -> RegisteredTools | None:
    """Return at most `limit` active tools from a position on, or None for an incomplete index."""
    complete_since, known = connection.execute(
        "SELECT complete_since, (SELECT coalesce(max(registration), -1) + 1 FROM tools)"
        " FROM identity"
    ).fetchone()
    if complete_since:
        return None
    wanted = replace(tool_filter, state=ToolState.ACTIVE)
    scan = scan_tools(connection, wanted, ToolSort.NEWEST)
    if scan is None or start >= known:
        return RegisteredTools((), max(start, known), is_end=True)
    scan = replace(scan, descending=False)
    rows: list[int] = []
    after: str | None = json.dumps([start - 1])
    while after is not None and len(rows) < limit:
        part, after = scan.read(connection, limit - len(rows), after)
        rows += part
    items = tuple(
        RegisteredTool(*row)
        for row in connection.execute(
            "SELECT registration, fqn, description FROM tools"
            " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY registration",
            (json.dumps(rows),),
        )
    )
    if after is None:
        return RegisteredTools(items, known, is_end=True)
    return RegisteredTools(items, items[-1].registration + 1, is_end=False)
