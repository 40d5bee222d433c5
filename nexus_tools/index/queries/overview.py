"""Queries of pages that show an index as a whole, or one subject day by day. All are bounded."""

import sqlite3

from msgspec import Struct

from nexus_tools.index.addresses import find_number
from nexus_tools.index.queries.performance import read_days, read_last_hours
from nexus_tools.index.queries.records import DayStats, IndexedTool, Performance
from nexus_tools.index.queries.scan import MAX_SCANNED
from nexus_tools.index.queries.tools import read_tool
from nexus_tools.index.totals import ALL
from nexus_tools.sui.types.address import Address

MAX_COUNTED = 1_000
"""The number up to which rows are counted, because a count takes longer for each row."""
_MAX_VERSIONS = 50
# `max` reads one row, because an SQL index contains the registrations.
_NUMBERS = f"""
    SELECT (SELECT coalesce(max(registration) + 1, 0) FROM tools),
        (SELECT coalesce(max(registration) + 1, 0) FROM leaders),
        (SELECT count(*) FROM (SELECT 1 FROM workflows LIMIT {MAX_COUNTED})),
        (SELECT count(*) FROM (SELECT 1 FROM schedules LIMIT {MAX_COUNTED}))
"""  # noqa: S608 - constant numbers


class Overview(Struct, frozen=True):
    """The numbers of objects in an index, and the closings of all tools in the last 24 hours.

    `tools` and `leaders` count all registrations, also of objects that are no longer active.
    `workflows` and `schedules` are at most `MAX_COUNTED`.
    """

    tools: int
    leaders: int
    workflows: int
    schedules: int
    last_24_hours: Performance


def read_overview(connection: sqlite3.Connection, now_ms: int) -> Overview:
    """Return the overview of an index."""
    tools, leaders, workflows, schedules = connection.execute(_NUMBERS).fetchone()
    last_24_hours = read_last_hours(connection, ALL, now_ms)
    return Overview(tools, leaders, workflows, schedules, last_24_hours)


def read_subject_days(
    connection: sqlite3.Connection, subject: Address, days: int, now_ms: int
) -> tuple[DayStats, ...]:
    """Return the closings of a tool or leader on the last days that have closings, newest first."""
    number = find_number(connection, subject)
    return () if number is None else read_days(connection, days, now_ms, number)


def read_versions(connection: sqlite3.Connection, name: str, now_ms: int) -> list[IndexedTool]:
    """Return the tools with an unversioned name `domain.name`, newest registration first.

    The result has at most 50 tools. If a name has more than 2 000 versions, some are omitted.
    """
    rows = connection.execute(
        "SELECT id FROM (SELECT id, registration FROM tools WHERE fqn >= ? AND fqn < ? LIMIT ?)"
        " ORDER BY registration DESC LIMIT ?",
        (f"{name}@", f"{name}A", MAX_SCANNED, _MAX_VERSIONS),  # `A` is the character after `@`
    )
    return [read_tool(connection, number, None, now_ms) for (number,) in rows.fetchall()]


def find_tool_fqn(connection: sqlite3.Connection, tool: Address) -> str | None:
    """Return the FQN of the tool with an object ID, or None."""
    row = connection.execute(
        "SELECT fqn FROM tools WHERE id = ?", (find_number(connection, tool),)
    ).fetchone()
    return None if row is None else str(row[0])


def find_tool_name(connection: sqlite3.Connection, tool: Address) -> Address | None:
    """Return the ID of the object that owns the name of a tool, or None."""
    row = connection.execute(
        "SELECT address FROM tools JOIN addresses ON addresses.id = name_object WHERE tools.id = ?",
        (find_number(connection, tool),),
    ).fetchone()
    return None if row is None else Address(row[0])


def find_leader_name(connection: sqlite3.Connection, leader: Address) -> str | None:
    """Return the name of the leader with an object ID, or None."""
    row = connection.execute(
        "SELECT name FROM leaders WHERE id = ?", (find_number(connection, leader),)
    ).fetchone()
    return None if row is None else str(row[0])
