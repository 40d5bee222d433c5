"""Events from a node that keeps an index of them: `ListEvents` and `SubscribeEvents`."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from nexus_tools.client.connection import Connection
from nexus_tools.client.event_stream import (
    Cursor,
    EventFilter,
    EventRecord,
    Progress,
    record_of,
)
from nexus_tools.client.messages import mask, rpc

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
"""How many events are asked for at once; nodes may give fewer."""


class IndexSource:
    """Past and present events, filtered by the node."""

    def __init__(self, connection: Connection, event_filter: EventFilter) -> None:
        self._connection = connection
        self._filter = event_filter

    async def past(self, after: Cursor) -> AsyncGenerator[EventRecord | Progress, None]:
        """What the index has after a place: as many lists as it takes to get to its end."""
        token, start = after.token, after.checkpoint
        while True:
            request = self._list_request(token, start)
            ended = None
            frames = self._connection.stream(self._connection.ledger.list_events, request)
            async with aclosing(frames) as stream:
                async for frame in stream:
                    token = frame.watermark.cursor or token
                    for item in _items(frame):
                        yield item
                    ended = frame.end or ended
            reasons = rpc().QueryEndReason
            if ended is None or ended.reason not in (reasons.ITEM_LIMIT, reasons.SCAN_LIMIT):
                return

    def _list_request(self, token: bytes | None, start: int) -> Any:
        return rpc().ListEventsRequest(
            read_mask=mask(*_EVENT_FIELDS),
            filter=self._filter.message(),
            start_checkpoint=start if token is None else None,
            options=rpc().QueryOptions(limit=LIST_LIMIT, after=token),
        )

    async def live(self) -> AsyncGenerator[EventRecord | Progress, None]:
        """What happens from now on; first a `Progress` to the tip."""
        request = rpc().SubscribeEventsRequest(
            read_mask=mask(*_EVENT_FIELDS), filter=self._filter.message()
        )
        frames = self._connection.stream(self._connection.subscription.subscribe_events, request)
        async with aclosing(frames) as stream:
            async for frame in stream:
                for item in _items(frame):
                    yield item


def _items(frame: Any) -> tuple[EventRecord | Progress, ...]:
    """An event comes before the progress that its frame reports."""
    token, covered = frame.watermark.cursor, frame.watermark.checkpoint
    items: tuple[EventRecord | Progress, ...] = ()
    if frame.event is not None:
        items = (record_of(frame.event, token),)
    if covered is not None:
        items = (*items, Progress(Cursor.after_checkpoint(covered, token)))
    return items
