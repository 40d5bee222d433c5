"""Pages of past events, newest first. The cost of a page does not depend on the chain's history."""

import asyncio

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.connection.grpc_errors import UnsupportedByNodeError
from nexus_tools.sui.client.connection.stream_retries import retry_read
from nexus_tools.sui.client.events.event_sources import (
    CheckpointEventSource,
    IndexEventSource,
)
from nexus_tools.sui.client.events.events import Cursor, EventFilter, EventPage, EventRecord
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.errors import RefusedOnChainError

MAX_READ_S = 1.0
"""The time after which a page ends, even if it is not full."""


async def newest_events(
    client: SuiClient,
    event_filter: EventFilter,
    limit: int,
    before: Cursor | None = None,
    *,
    max_read_s: float = MAX_READ_S,
    indexed_only: bool = False,
) -> EventPage:
    """Return at most `limit` events before a position, or the newest events, newest first.

    Pass the field `next` of a page as `before` to read the next page. If few events match, or if
    the node does not have an event index, reading stops after about `max_read_s`. The page then
    has fewer events. At least one request is always sent.

    With `indexed_only`, checkpoints are not read, and the function raises `UnsupportedByNodeError`
    if the node does not have an event index. Raises `node_unreachable`, or the node's error if it
    refuses the request permanently.
    """
    connection = client.connection
    ends_at = asyncio.get_running_loop().time() + max_read_s
    try:
        source = IndexEventSource(connection, event_filter)
        return await _read_page(connection, source, limit, before, ends_at)
    except UnsupportedByNodeError:
        if indexed_only:
            raise
        checkpoints = CheckpointEventSource(connection, event_filter)
        return await _read_page(connection, checkpoints, limit, before, ends_at)


async def has_all_events(client: SuiClient) -> bool:
    """Return whether the node still has the events of all checkpoints. Sends one request."""
    return await oldest_checkpoint(client) == 0


async def oldest_checkpoint(client: SuiClient) -> int:
    """Return the oldest checkpoint that the node still has. Sends one request."""
    response = await client.connection.call("LedgerService/GetServiceInfo")
    return int(response.lowest_available_checkpoint)


async def _read_page(
    connection: Connection,
    source: IndexEventSource | CheckpointEventSource,
    limit: int,
    before: Cursor | None,
    ends_at: float,
) -> EventPage:
    """Read parts of the history until the page is full or the time is over."""
    events: list[EventRecord] = []
    position: Cursor | None = before
    while True:
        part = await _retry(connection, source, limit - len(events), position)
        events += part.events
        position = part.next
        is_full = len(events) >= limit or asyncio.get_running_loop().time() >= ends_at
        if position is None or is_full:
            return EventPage(tuple(events), position)


async def _retry(
    connection: Connection,
    source: IndexEventSource | CheckpointEventSource,
    limit: int,
    before: Cursor | None,
) -> EventPage:
    """Read a part, and retry as `Connection.call` does. The events of a failed attempt are lost."""
    try:
        return await retry_read(connection, lambda: source.part_before(before, limit))
    except RefusedOnChainError:
        if before is None or before.token is None:
            raise
        position = before.without_token()  # another node created the token
        return await retry_read(connection, lambda: source.part_before(position, limit))
