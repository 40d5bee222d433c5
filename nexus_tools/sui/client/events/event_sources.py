"""Event sources: the event index of a node, or its checkpoints if it does not have an index."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, Protocol, TypeGuard

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.connection.list_requests import DESCENDING, THERE_IS_MORE
from nexus_tools.sui.client.events.events import (
    Cursor,
    EventFilter,
    EventPage,
    EventRecord,
    Item,
    Progress,
    parse_event_record,
)
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import EVENTS


class Source(Protocol):
    """A source of past and live events."""

    def past(self, after: Cursor) -> AsyncGenerator[Item, None]:
        """Yield the events after a position, and then at least one `Progress` item."""

    def live(self) -> AsyncGenerator[Item, None]:
        """Yield a `Progress` item with the start position of the stream, and then live events."""


# --- An index of events: `ListEvents` and `SubscribeEvents`

_EVENT_FIELDS = (
    "package_id",
    "module",
    "sender",
    "event_type",
    "contents",
    "checkpoint",
    "transaction_digest",
    "transaction_index",
    "event_index",
)

LIST_LIMIT = 1_000
"""The number of events per list request. Nodes may return fewer events."""


class IndexEventSource:
    """A source that uses the node's event index, by `ListEvents` and `SubscribeEvents`."""

    def __init__(self, connection: Connection, event_filter: EventFilter) -> None:
        self._connection = connection
        self._filter = event_filter

    async def past(self, after: Cursor) -> AsyncGenerator[Item, None]:
        """Yield the indexed events after a position.

        The source sends list requests until it has read all events.
        """
        token, start = after.token, after.checkpoint
        while True:
            end_reason = None
            frames = self._list(token, start)
            async with aclosing(frames) as stream:
                async for frame in stream:
                    token = frame.watermark.cursor or token
                    for item in _items(frame):
                        yield item
                    if frame.HasField("end"):
                        end_reason = frame.end.reason
            if end_reason not in THERE_IS_MORE:
                return

    async def part_before(self, before: Cursor | None, limit: int) -> EventPage:
        """Return at most `limit` events before a position, newest first, with one request."""
        events: list[EventRecord] = []
        frame, end_reason = None, None
        async with aclosing(self._list_back(before, limit)) as stream:
            async for frame in stream:
                events += [item for item in _items(frame) if _is_event_before(item, before)]
                if frame.HasField("end"):
                    end_reason = frame.end.reason
        if frame is None or end_reason not in THERE_IS_MORE:
            return EventPage(tuple(events), None)
        token = frame.watermark.cursor
        if frame.HasField("event"):
            position = parse_event_record(frame.event, token).cursor
        else:
            position = Cursor(frame.watermark.checkpoint, -1, -1, token)
        return EventPage(tuple(events), position)

    def _list_back(self, before: Cursor | None, limit: int) -> AsyncGenerator[Any, None]:
        token = before.token if before else None
        return self._connection.stream(
            "LedgerService/ListEvents",
            read_mask=mask(*_EVENT_FIELDS),
            filter=self._filter.message(),
            end_checkpoint=before.checkpoint + 1 if before and token is None else None,
            options={"limit": min(limit, LIST_LIMIT), "before": token, "ordering": DESCENDING},
        )

    def _list(self, token: bytes | None, start: int) -> AsyncGenerator[Any, None]:
        return self._connection.stream(
            "LedgerService/ListEvents",
            read_mask=mask(*_EVENT_FIELDS),
            filter=self._filter.message(),
            start_checkpoint=start if token is None else None,
            options={"limit": LIST_LIMIT, "after": token},
        )

    async def live(self) -> AsyncGenerator[Item, None]:
        """Yield a `Progress` item with the newest position, and then live events."""
        frames = self._connection.stream(
            "SubscriptionService/SubscribeEvents",
            read_mask=mask(*_EVENT_FIELDS),
            filter=self._filter.message(),
        )
        async with aclosing(frames) as stream:
            async for frame in stream:
                for item in _items(frame):
                    yield item


def _is_event_before(item: Item, before: Cursor | None) -> TypeGuard[EventRecord]:
    return isinstance(item, EventRecord) and (
        before is None or item.cursor.position < before.position
    )


def _items(frame: Any) -> tuple[Item, ...]:
    """Return the items of a frame: an event, if any, followed by a `Progress` item, if any.

    The watermark of most events is the checkpoint before the event, which is not progress.
    """
    watermark = frame.watermark
    token = watermark.cursor if watermark.HasField("cursor") else None
    items: tuple[Item, ...] = ()
    if frame.HasField("event"):
        items = (parse_event_record(frame.event, token),)
        if watermark.checkpoint < items[0].checkpoint:
            return items
    if watermark.HasField("checkpoint"):
        items = (*items, Progress(Cursor.after_checkpoint(watermark.checkpoint, token)))
    return items


# --- Whole checkpoints, filtered by the client

_CHECKPOINT_FIELDS = ("sequence_number", "transactions.digest", "transactions.events.bcs")

_PARALLEL_READS = 16


class CheckpointEventSource:
    """A source that reads whole checkpoints, from which the client filters the events."""

    def __init__(self, connection: Connection, event_filter: EventFilter) -> None:
        self._connection = connection
        self._filter = event_filter

    async def past(self, after: Cursor) -> AsyncGenerator[Item, None]:
        """Yield the events of all checkpoints, from the checkpoint of `after` to the newest."""
        numbers = range(after.checkpoint, await self._tip() + 1)
        for start in range(0, len(numbers), _PARALLEL_READS):
            reads = map(self._read, numbers[start : start + _PARALLEL_READS])
            for checkpoint in await asyncio.gather(*reads):
                for item in self._items(checkpoint):
                    yield item

    async def live(self) -> AsyncGenerator[Item, None]:
        """Yield live events.

        The first item is a `Progress` item with the start position of the stream.
        """
        is_started = False
        frames = self._connection.stream(
            "SubscriptionService/SubscribeCheckpoints", read_mask=mask(*_CHECKPOINT_FIELDS)
        )
        async with aclosing(frames) as stream:
            async for frame in stream:
                if not is_started:
                    is_started = True
                    yield Progress(Cursor.after_checkpoint(frame.cursor))
                else:
                    for item in self._items(frame.checkpoint):
                        yield item

    async def part_before(self, before: Cursor | None, limit: int) -> EventPage:
        """Return at most `limit` events before a position, newest first, from a few checkpoints.

        Checkpoints that the node has pruned contain no events.
        """
        if before is None:
            newest = await self._tip()
        else:
            newest = before.checkpoint if before.transaction >= 0 else before.checkpoint - 1
        checkpoints = await self._read_back(newest)
        items = [item for checkpoint in checkpoints for item in [*self._items(checkpoint)][::-1]]
        events = [item for item in items if _is_event_before(item, before)]
        if len(events) > limit:
            return EventPage(tuple(events[:limit]), events[limit - 1].cursor)
        is_end = len(checkpoints) < _PARALLEL_READS or newest < _PARALLEL_READS
        oldest = newest - len(checkpoints) + 1
        return EventPage(tuple(events), None if is_end else Cursor(oldest, -1, -1))

    async def _read_back(self, newest: int) -> list[Any]:
        """Return some checkpoints, from the newest to the last one that the node has."""
        numbers = range(newest, max(newest - _PARALLEL_READS, -1), -1)
        checkpoints: list[Any] = []
        for read in await asyncio.gather(*map(self._read, numbers), return_exceptions=True):
            if isinstance(read, NotFoundError):
                break
            if isinstance(read, BaseException):
                raise read
            checkpoints.append(read)
        return checkpoints

    async def _tip(self) -> int:
        info = await self._connection.call("LedgerService/GetServiceInfo")
        return int(info.checkpoint_height)

    async def _read(self, sequence_number: int) -> Any:
        try:
            response = await self._connection.call(
                "LedgerService/GetCheckpoint",
                sequence_number=sequence_number,
                read_mask=mask(*_CHECKPOINT_FIELDS),
            )
        except NotFoundError as error:
            raise NotFoundError(
                "history_missing",
                f"the node no longer has checkpoint {sequence_number}, so events are missing",
                hint="Use a node with a longer history, or follow only new events.",
                details=error.details,
            ) from error
        return response.checkpoint

    def _items(self, checkpoint: Any) -> Iterator[Item]:
        sequence_number = checkpoint.sequence_number
        for index, transaction in enumerate(checkpoint.transactions):
            events = transaction.events.bcs.value
            if not events:
                continue
            digest = Digest.parse(transaction.digest)
            for event_index, event in enumerate(EVENTS.decode(events)):
                if self._filter.matches(event):
                    cursor = Cursor(sequence_number, index, event_index)
                    yield EventRecord(cursor, event, sequence_number, digest, event_index)
        yield Progress(Cursor.after_checkpoint(sequence_number))
