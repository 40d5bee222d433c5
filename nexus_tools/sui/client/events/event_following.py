"""Following events: each that matches exactly once, in order, over any number of disconnections.

A subscription begins at the tip and cannot be resumed; the list of past events can, but trails the
tip. So: read the list up to its end, subscribe, read the list again until it covers the place where
the subscription began, and go on with the subscription. The order (checkpoint, transaction, event)
tells what was delivered before. A node that keeps no list of events is asked for whole checkpoints.

After a disconnection, or since a cursor was kept, the node may have been set back. Then the order
tells nothing: so what was delivered last is read and compared again.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.connection.grpc_errors import UnsupportedByNodeError
from nexus_tools.sui.client.events.event_sources import CheckpointSource, IndexSource, Source
from nexus_tools.sui.client.events.events import Cursor, EventFilter, EventRecord, Item, Progress
from nexus_tools.sui.client.events.rollback_detection import Lineage
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
    """The events after `cursor`, without end; without a cursor, those from now on.

    A consumer that has dealt with an item keeps `item.cursor` and starts with it again: nothing is
    lost and nothing comes twice. `Progress` says that nothing matched up to its place. With
    `timestamps`, the time of its checkpoint is read for each event, as long as the node keeps the
    checkpoint. The node may be away for as long as the client's `Patience` bears: `interrupted` is
    told of each try that failed; the next item says that it is over. Close the iterator
    (`contextlib.aclosing`) when you leave it early.

    Raises `chain_went_back` if what was given, or the cursor, is not on the node's chain any more;
    its detail `common` is a checkpoint up to which it is as it was. Raises `history_missing`, or
    what the node says of a request that it refuses for good, or `node_unreachable`.
    """
    follower = _Follower(client.connection, event_filter, cursor, interrupted)
    known: tuple[int, int | None] = (-1, None)
    async with aclosing(follower.run()) as items:
        async for item in items:
            if timestamps and isinstance(item, EventRecord):
                if known[0] != item.checkpoint:
                    known = item.checkpoint, await _time_of(client, item.checkpoint)
                yield replace(item, timestamp_ms=known[1])
            else:
                yield item


async def past_events(
    client: SuiClient, event_filter: EventFilter, after: Cursor | None = None
) -> AsyncGenerator[EventRecord, None]:
    """The events up to now, from `after` on or all that the node has. Raises as `follow_events`."""
    now = Cursor.after_checkpoint(await client.latest_checkpoint()).position
    items = follow_events(client, event_filter, after or Cursor.beginning())
    async with aclosing(items):
        async for item in items:
            if isinstance(item, EventRecord) and item.cursor.position <= now:
                yield item
            if item.cursor.position >= now:
                return


async def _time_of(client: SuiClient, checkpoint: int) -> int | None:
    for pause in client.connection.patience.pauses():
        try:
            return await client.checkpoint_time_ms(checkpoint)
        except NotFoundError:
            return None
        except UnreachableError:
            if client.connection.silence.is_over_long:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("there is always another pause")


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
        self._source: Source = IndexSource(connection, event_filter)
        self._lineage = Lineage(connection, self._cursor)
        self._is_broken = False

    async def run(self) -> AsyncGenerator[Item, None]:
        pauses = self._connection.patience.pauses()
        while True:
            try:
                async with aclosing(self._follow()) as items:
                    async for item in items:
                        pauses = self._connection.patience.pauses()
                        yield item
            except UnsupportedByNodeError:
                if isinstance(self._source, CheckpointSource):
                    raise
                self._source = CheckpointSource(self._connection, self._filter)
                continue
            except RefusedOnChainError:
                if self._cursor is None or self._cursor.token is None:
                    raise
                self._cursor = self._cursor.without_token()  # it was another node's
                continue
            except UnreachableError as error:
                if self._connection.silence.is_over_long:
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
                if self._is_broken:  # the node may have gone back before this stream began
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
        """What happened since the cursor, until the list covers the checkpoint `until`.

        Without it, one reading to the end of the list. If the stream was broken, what was delivered
        last is read again, and has to be the same.
        """
        pauses = self._connection.patience.pauses()
        reached = self._cursor
        is_same = not self._is_broken
        while True:
            assert self._cursor is not None
            assert reached is not None
            start = self._cursor if is_same else self._lineage.begin_again(reached)
            async with aclosing(self._source.past(start)) as items:
                async for item in items:
                    is_same = is_same or await self._lineage.compare(item, reached)
                    for new in self._advance(item):
                        yield new
            if until is None or self._cursor.position >= Cursor.after_checkpoint(until).position:
                return
            await asyncio.sleep(next(pauses))  # the list of events trails the tip

    def _advance(self, item: Item) -> tuple[Any, ...]:
        """The item, if it is new; remember how far it goes."""
        known = self._cursor
        if known is not None and item.cursor.position <= known.position:
            # Nothing new, but with the node's own cursor for this place the next list begins
            # sooner.
            if item.cursor.position == known.position and item.cursor.token is not None:
                self._cursor = replace(item.cursor, mark=known.mark)
            return ()
        self._cursor = replace(item.cursor, mark=self._lineage.advance(item))
        return (replace(item, cursor=self._cursor),)


def _covered(first: Item) -> int:
    """The last checkpoint that a stream with this first item leaves to the list."""
    return first.cursor.checkpoint if isinstance(first, Progress) else first.checkpoint - 1


def _broken(connection: Connection) -> UnreachableError:
    return UnreachableError(
        "stream_broken", f"the node at {connection.network.url} ended the stream of events"
    )
