"""Queries of tools and leaders."""

import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from nexus_tools.contracts import LeaderState, ToolState
from nexus_tools.index.addresses import find_number
from nexus_tools.index.queries.performance import (
    read_for_requesters,
    read_record,
    read_windows,
)
from nexus_tools.index.queries.records import (
    IndexedLeader,
    IndexedTool,
    LeaderDetail,
    Performance,
    ToolDetail,
)
from nexus_tools.index.queries.scan import Scan
from nexus_tools.sui.types.address import Address


class ToolSort(StrEnum):
    """The order of tools. All orders but `NAME` and `PRICE` start with the largest value.

    Reputation and volume are those of the last 30 days.
    """

    NEWEST = "newest"
    NAME = "name"
    PRICE = "price"
    REPUTATION = "reputation"
    VOLUME = "volume"
    LAST_SEEN = "last_seen"


class LeaderSort(StrEnum):
    """The order of leaders, which starts with the largest value."""

    NEWEST = "newest"
    REPUTATION = "reputation"


_TOOL_KEYS = {
    ToolSort.NEWEST: ("registration",),
    ToolSort.NAME: ("fqn",),
    ToolSort.PRICE: ("price_mist", "registration"),
    ToolSort.REPUTATION: ("reputation", "registration"),
    ToolSort.VOLUME: ("volume_mist", "registration"),
    ToolSort.LAST_SEEN: ("last_seen_ms", "registration"),
}
_ASCENDING = {ToolSort.NAME, ToolSort.PRICE}
_LEADER_KEYS = {
    LeaderSort.NEWEST: ("registration",),
    LeaderSort.REPUTATION: ("reputation", "registration"),
}
_TOOL_COLUMNS = (
    *("fqn", "tool_type", "url", "description", "timeout_ms", "price_mist", "revision"),
    *("registration", "registered_at_ms", "reputation", "volume_mist", "last_seen_ms"),
)
_LEADER_COLUMNS = (
    *("name", "registration", "registered_at_ms", "reputation", "volume_mist", "last_seen_ms"),
)
_TOOL = (
    f"SELECT {', '.join(f'tools.{column}' for column in _TOOL_COLUMNS)}, state, owners.address,"  # noqa: S608 - constant names
    " ids.address, payouts.address, accepts_any_leader, requires_signed_outcome,"
    " definition_pending, tools.checkpoint FROM tools"
    " JOIN addresses AS owners ON owners.id = owner JOIN addresses AS ids ON ids.id = tools.id"
    " JOIN addresses AS payouts ON payouts.id = payout WHERE tools.id = ?"
)
_LEADER = (
    f"SELECT {', '.join(_LEADER_COLUMNS)}, state, owners.address, ids.address,"  # noqa: S608 - constant names
    " leaders.checkpoint FROM leaders JOIN addresses AS owners ON owners.id = owner"
    " JOIN addresses AS ids ON ids.id = leaders.id WHERE leaders.id = ?"
)


class IndexedToolFilter(Struct, frozen=True):
    """A filter for tools. Fields that are None match every tool.

    `domain` is the domain of the FQN, or its first labels. Prices are in MIST, and a free tool has
    the price 0. `tool_type` is `offchain` or `onchain`.
    """

    domain: str | None = None
    owner: Address | None = None
    state: ToolState | None = None
    min_price_mist: int | None = None
    max_price_mist: int | None = None
    tool_type: str | None = None


def scan_tools(
    connection: sqlite3.Connection, tool_filter: IndexedToolFilter, sort: ToolSort
) -> Scan | None:
    """Return the scan for a filter and an order, or None if no tool can match."""
    within: list[tuple[str, tuple[Any, ...]]] = []
    matching: list[tuple[str, tuple[Any, ...]]] = []
    if tool_filter.owner is not None:
        owner = find_number(connection, tool_filter.owner)
        if owner is None:
            return None
        (within if sort is ToolSort.NEWEST else matching).append(("owner = ?", (owner,)))
    if tool_filter.domain is not None:
        # `/` is the character after the dot.
        bounds = f"{tool_filter.domain}.", f"{tool_filter.domain}/"
        condition = "fqn >= ? AND fqn < ?", bounds
        (within if sort is ToolSort.NAME else matching).append(condition)
    if tool_filter.state is not None:
        matching.append(("state = ?", (tool_filter.state.value,)))
    if tool_filter.tool_type is not None:
        matching.append(("tool_type = ?", (tool_filter.tool_type,)))
    by_price = within if sort is ToolSort.PRICE else matching
    if tool_filter.min_price_mist is not None:
        by_price.append(("price_mist >= ?", (tool_filter.min_price_mist,)))
    if tool_filter.max_price_mist is not None:
        by_price.append(("price_mist <= ?", (tool_filter.max_price_mist,)))
    return Scan("tools", _TOOL_KEYS[sort], sort not in _ASCENDING, within, matching)


def scan_leaders(state: LeaderState | None, sort: LeaderSort) -> Scan:
    """Return the scan of leaders in a state."""
    matching = [] if state is None else [("state = ?", (state.value,))]
    return Scan("leaders", _LEADER_KEYS[sort], descending=True, matching=matching)


def read_tool(
    connection: sqlite3.Connection, tool: int, requesters: Sequence[int] | None, now_ms: int
) -> IndexedTool:
    """Return the tool in a row. `requesters` are those of `IndexedTool.mine`, or None."""
    row = connection.execute(_TOOL, (tool,)).fetchone()
    values = dict(zip(_TOOL_COLUMNS, row, strict=False))
    state, owner, tool_id, payout, any_leader, signed, pending, checkpoint = row[
        len(_TOOL_COLUMNS) :
    ]
    return IndexedTool(
        **values,
        state=ToolState(state),
        owner=Address(owner),
        id=Address(tool_id),
        payout=Address(payout),
        accepts_any_leader=bool(any_leader),
        requires_signed_outcome=bool(signed),
        definition_pending=bool(pending),
        checkpoint=checkpoint,
        record=read_record(connection, tool, now_ms),
        mine=_mine(connection, tool, requesters),
    )


def read_leader(
    connection: sqlite3.Connection, leader: int, requesters: Sequence[int] | None, now_ms: int
) -> IndexedLeader:
    """Return the leader in a row. `requesters` are those of `IndexedLeader.mine`, or None."""
    row = connection.execute(_LEADER, (leader,)).fetchone()
    state, owner, leader_id, checkpoint = row[len(_LEADER_COLUMNS) :]
    return IndexedLeader(
        **dict(zip(_LEADER_COLUMNS, row, strict=False)),
        state=LeaderState(state),
        owner=Address(owner),
        id=Address(leader_id),
        checkpoint=checkpoint,
        record=read_record(connection, leader, now_ms),
        mine=_mine(connection, leader, requesters),
    )


def _mine(
    connection: sqlite3.Connection, subject: int, requesters: Sequence[int] | None
) -> Performance | None:
    return None if requesters is None else read_for_requesters(connection, subject, requesters)


def read_tool_detail(
    connection: sqlite3.Connection, fqn: str, requesters: Sequence[int] | None, now_ms: int
) -> ToolDetail | None:
    """Return the tool with an FQN and its performance, or None."""
    row = connection.execute("SELECT id FROM tools WHERE fqn = ?", (fqn,)).fetchone()
    if row is None:
        return None
    [tool] = row
    leaders = connection.execute(
        "SELECT address FROM tool_leaders JOIN addresses ON id = leader WHERE tool = ?"
        " ORDER BY leader",
        (tool,),
    )
    return ToolDetail(
        read_tool(connection, tool, requesters, now_ms),
        tuple(Address(address) for (address,) in leaders),
        read_windows(connection, tool, now_ms),
    )


def read_leader_detail(
    connection: sqlite3.Connection, leader: Address, requesters: Sequence[int] | None, now_ms: int
) -> LeaderDetail | None:
    """Return the leader with an ID and its performance, or None."""
    number = find_number(connection, leader)
    exists = connection.execute("SELECT 1 FROM leaders WHERE id = ?", (number,)).fetchone()
    if number is None or exists is None:
        return None
    return LeaderDetail(
        read_leader(connection, number, requesters, now_ms),
        read_windows(connection, number, now_ms),
    )
