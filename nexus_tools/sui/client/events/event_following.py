"""Event following: delivery of each matching event exactly once, in order, despite disconnections.

A subscription starts at the newest checkpoint and cannot be resumed. The list of past events can be
resumed, but lags behind the chain. Therefore, a follower first reads the list to its end, and then
subscribes. The follower reads the list again until the list covers the start of the subscription.
Then the follower continues with the subscription. The follower skips events that it has already
delivered by comparing positions (checkpoint, transaction, event). If a node does not have an event
index, the follower reads whole checkpoints.

The node may be rolled back during a disconnection, or after a cursor was stored. Positions do not
show a rollback. Therefore, the follower reads the last delivered events again and compares them.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.connection.grpc_errors import UnsupportedByNodeError
from nexus_tools.sui.client.events.event_sources import (
    CheckpointEventSource,
    IndexEventSource,
    Source,
)
from nexus_tools.sui.client.events.events import Cursor, EventFilter, EventRecord, Item, Progress
from nexus_tools.sui.client.events.rollback_detection import RollbackDetector
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.errors import NotFoundError, RefusedOnChainError, UnreachableError

Interrupted = Callable[[UnreachableError], None]


async def follow_events(
    client: SuiClient,
    event_filter: EventFilter,
    cursor: Cursor | None = None,
    *,
    timestamps: bool = False,
    interrupted: Interrupted = lambda _: None,
) -> AsyncGenerator[Item, None]:
    """Yield the events after `cursor`, or only new events if `cursor` is None.

    The iterator does not end. After you process an item, store `item.cursor`. Pass the stored
    cursor when you restart, so that events are neither lost nor repeated. A `Progress` item means
    that no further event matches up to the item's position. If `timestamps` is True, each event has
    the time of its checkpoint, unless the node has pruned the checkpoint.

    The client's `RetryPolicy` limits how long the node may be unreachable. `interrupted` receives
    the error of each failed attempt. When the next item arrives, the node is reachable again. If
    you leave the iterator early, close it with `contextlib.aclosing`.

    Raises:
        NotFoundError: `chain_rolled_back` if delivered events, or the cursor, are no longer on the
            node's chain. The error's detail `common` is a checkpoint up to which the chain is
            unchanged. `history_missing` if the node has pruned checkpoints.
        NexusError: `node_unreachable`, or the node's error if it refuses the request permanently.
    """
    follower = _Follower(client.connection, event_filter, cursor, interrupted)
    last_time: tuple[int, int | None] = (-1, None)
    async with aclosing(follower.run()) as items:
        async for item in items:
            if timestamps and isinstance(item, EventRecord):
                if last_time[0] != item.checkpoint:
                    last_time = item.checkpoint, await _time_of(client, item.checkpoint)
                yield replace(item, timestamp_ms=last_time[1])
            else:
                yield item


async def past_events(
    client: SuiClient, event_filter: EventFilter, after: Cursor | None = None
) -> AsyncGenerator[EventRecord, None]:
    """Yield the events from `after`, or from the first event, up to the newest event.

    Raises the errors of `follow_events`.
    """
    now = Cursor.after_checkpoint(await client.latest_checkpoint()).position
    items = follow_events(client, event_filter, after or Cursor.beginning())
    async with aclosing(items):
        async for item in items:
            if isinstance(item, EventRecord) and item.cursor.position <= now:
                yield item
            if item.cursor.position >= now:
                return


async def _time_of(client: SuiClient, checkpoint: int) -> int | None:
    for pause in client.connection.retry_policy.delays():
        try:
            return await client.checkpoint_time_ms(checkpoint)
        except NotFoundError:
            return None
        except UnreachableError:
            if client.connection.stall_timeout.is_exceeded:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("the iterator of delays must not end")


class _Follower:
    def __init__(
        self,
        connection: Connection,
        event_filter: EventFilter,
        cursor: Cursor | None,
        interrupted: Interrupted,
    ) -> None:
        self._connection = connection
        self._filter = event_filter
        self._cursor = cursor and cursor.at_mark()
        self._interrupted = interrupted
        self._source: Source = IndexEventSource(connection, event_filter)
        self._lineage = RollbackDetector(connection, self._cursor)
        self._is_broken = False

    async def run(self) -> AsyncGenerator[Item, None]:
        pauses = self._connection.retry_policy.delays()
        while True:
            try:
                async with aclosing(self._follow()) as items:
                    async for item in items:
                        pauses = self._connection.retry_policy.delays()
                        yield item
            except UnsupportedByNodeError:
                if isinstance(self._source, CheckpointEventSource):
                    raise
                self._source = CheckpointEventSource(self._connection, self._filter)
                continue
            except RefusedOnChainError:
                if self._cursor is None or self._cursor.token is None:
                    raise
                self._cursor = self._cursor.without_token()  # another node created the token
                continue
            except UnreachableError as error:
                if self._connection.stall_timeout.is_exceeded:
                    raise
                self._interrupted(error)
            self._is_broken = True
            await asyncio.sleep(next(pauses))

    async def _follow(self) -> AsyncGenerator[Item, None]:
        if self._cursor is not None:
            await self._lineage.check(self._cursor)
            async with aclosing(self._catch_up(None)) as items:
                async for item in items:
                    yield item
        async with aclosing(self._source.live()) as live:
            first = await anext(live, None)
            if first is None:
                raise _broken(self._connection)
            if self._cursor is not None:
                # The node may have been rolled back before this stream started.
                await self._lineage.check(self._cursor)
                async with aclosing(self._catch_up(_covered(first))) as items:
                    async for item in items:
                        yield item
            self._is_broken = False
            for new in self._advance(first):
                yield new
            async for item in live:
                for new in self._advance(item):
                    yield new
                if isinstance(item, Progress):
                    await self._lineage.mark(item.cursor.checkpoint)
        raise _broken(self._connection)

    async def _catch_up(self, until: int | None) -> AsyncGenerator[Item, None]:
        """Yield the events since the cursor, until the list covers the checkpoint `until`.

        If `until` is None, read once to the end of the list. If the stream broke, also read the
        last delivered events again, and check that they have not changed.
        """
        pauses = self._connection.retry_policy.delays()
        reached = self._cursor
        is_same = not self._is_broken
        while True:
            assert self._cursor is not None
            assert reached is not None
            start = self._cursor if is_same else self._lineage.rewind(reached)
            async with aclosing(self._source.past(start)) as items:
                async for item in items:
                    is_same = is_same or await self._lineage.compare(item, reached)
                    for new in self._advance(item):
                        yield new
            if until is None or self._cursor.position >= Cursor.after_checkpoint(until).position:
                return
            await asyncio.sleep(next(pauses))  # the list of events lags behind the stream

    def _advance(self, item: Item) -> tuple[Any, ...]:
        """Record the position of an item. Return a tuple with the item, or () if it is not new."""
        cursor = self._cursor
        if cursor is not None and item.cursor.position <= cursor.position:
            # The item is not new. Store only the node's own cursor for this position, which makes
            # the next list request faster.
            if item.cursor.position == cursor.position and item.cursor.token is not None:
                self._cursor = replace(item.cursor, mark=cursor.mark)
            return ()
        self._cursor = replace(item.cursor, mark=self._lineage.advance(item))
        return (replace(item, cursor=self._cursor),)


def _covered(first: Item) -> int:
    """Return the last checkpoint before the start of a stream, given the stream's first item."""
    return first.cursor.checkpoint if isinstance(first, Progress) else first.checkpoint - 1


def _broken(connection: Connection) -> UnreachableError:
    return UnreachableError(
        "stream_broken", f"the node at {connection.network.url} ended the stream of events"
    )
