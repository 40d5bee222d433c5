"""The texts of tools for a text search, in the order in which they changed."""

import sqlite3
from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.contracts import ToolState


class ToolText(Struct, frozen=True):
    """The texts of a tool by which users find it. The texts are untrusted.

    `tool` is the number of the tool's row. After a rollback, another tool may get the number.
    `words` are the names and descriptions of the tool's ports. `change` is larger than the numbers
    of all earlier changes of any tool. A tool that is not listed must not be found: it is not
    active, or it was removed by a rollback.
    """

    tool: int
    fqn: str
    description: str
    words: str
    change: int
    is_listed: bool


_CHANGED = (
    "SELECT * FROM ("
    "  SELECT tools.id, fqn, description, coalesce(words, ''), change, state"
    "  FROM tools LEFT JOIN definitions ON tool = tools.id"
    "  WHERE change > :after ORDER BY change LIMIT :limit"
    ") UNION ALL SELECT * FROM ("
    "  SELECT tool, fqn, '', '', change, '' FROM removed_tools"
    "  WHERE change > :after ORDER BY change LIMIT :limit"
    ") ORDER BY change LIMIT :limit"
)


def read_tool_texts(
    connection: sqlite3.Connection, after_change: int = 0, limit: int = 1_000
) -> list[ToolText]:
    """Return at most `limit` tools that changed after a change number, in the order of changes.

    To continue, pass the `change` of the last tool. Each tool occurs once, with its newest texts.
    """
    rows: Iterable[tuple[int, str, str, str, int, str]] = connection.execute(
        _CHANGED, {"after": after_change, "limit": limit}
    )
    return [
        ToolText(tool, fqn, description, words, change, state == ToolState.ACTIVE)
        for tool, fqn, description, words, change, state in rows
    ]


def read_changed_tools(
    connection: sqlite3.Connection, after_change: int, last_change: int
) -> list[int]:
    """Return the numbers of tools that changed, or were removed, up to a change number."""
    rows = connection.execute(
        "SELECT id FROM tools WHERE change > :after AND change <= :last UNION"
        " SELECT tool FROM removed_tools WHERE change > :after AND change <= :last",
        {"after": after_change, "last": last_change},
    )
    return [tool for (tool,) in rows]


def count_changes(connection: sqlite3.Connection, after_change: int) -> int:
    """Return the number of tools that changed, or were removed, after a change number."""
    ((count,),) = connection.execute(
        "SELECT (SELECT count(*) FROM tools WHERE change > :after)"
        " + (SELECT count(*) FROM removed_tools WHERE change > :after)",
        {"after": after_change},
    )
    return int(count)
