"""The order of tools: own experience first, and then the record of all accounts.

Anyone can buy a record for the fees, but no one else can change the own experience. Therefore,
tools that worked for the own accounts come first. The record of all accounts orders the others.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.index.queries.records import IndexedTool
from nexus_tools.index.queries.search import Standing, read_called, read_standings
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort, read_tool

OWN_FIRST = frozenset({ToolSort.REPUTATION, ToolSort.VOLUME})
"""The orders in which the own experience decides before the record of all accounts."""

_KEYS: dict[ToolSort, Callable[[Standing], Any]] = {
    ToolSort.NEWEST: lambda standing: -standing.registration,
    ToolSort.NAME: lambda standing: standing.fqn,
    ToolSort.PRICE: lambda standing: standing.price_mist,
    ToolSort.REPUTATION: lambda standing: (-standing.experience, -standing.reputation),
    ToolSort.VOLUME: lambda standing: (-standing.own_volume_mist, -standing.volume_mist),
    ToolSort.LAST_SEEN: lambda standing: -standing.last_seen_ms,
}


def sort_key(sort: ToolSort, standing: Standing) -> Any:
    """Return the value by which a tool is sorted, the smallest first."""
    return _KEYS[sort](standing)


def read_own_tools(
    connection: sqlite3.Connection,
    tool_filter: IndexedToolFilter,
    sort: ToolSort,
    requesters: Sequence[int],
    now_ms: int,
) -> tuple[list[IndexedTool], list[IndexedTool]]:
    """Return the tools that come before and after all others because of the own experience.

    `sort` is one of `OWN_FIRST`. In the order by reputation, tools that failed for the requesters
    come last.
    """
    called = read_called(connection, tool_filter, requesters)
    standings = read_standings(connection, called, requesters)
    first: list[IndexedTool] = []
    last: list[IndexedTool] = []
    for number in sorted(called, key=lambda item: sort_key(sort, standings[item])):
        standing = standings[number]
        value = standing.experience if sort is ToolSort.REPUTATION else standing.own_volume_mist
        if value:
            tool = read_tool(connection, number, requesters, now_ms)
            (first if value > 0 else last).append(tool)
    return first, last


def describe_calls(tool: IndexedTool) -> str:
    """Return how many calls of a tool succeeded, or an empty string without calls."""
    sentences = []
    if tool.mine is not None and tool.mine.closed:
        sentences.append(f"For you, {tool.mine.settled} of {tool.mine.closed} calls succeeded.")
    if tool.record.closed:
        share = f"{tool.record.settled} of {tool.record.closed}"
        sentences.append(f"For all accounts, {share} calls in 30 days succeeded.")
    return " ".join(sentences)
