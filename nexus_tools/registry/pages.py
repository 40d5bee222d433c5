"""Pages of items that events announce, newest first, such as the invocations of a requester."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from nexus_tools.contracts import PackageClient
from nexus_tools.sui.client import Cursor, EventFilter, EventRecord, newest_events

T = TypeVar("T")

PAGE_SIZE = 50
"""The default number of items on a page."""

MAX_SCANNED = 1_000
"""The number of events after which a page ends, even if it is not full."""


class Page(Struct, Generic[T], frozen=True):
    """Items, newest first.

    `next` is None if no older items exist. Otherwise, older items may exist, and `next` is the
    position before which the next page starts.
    """

    items: tuple[T, ...]
    next: Cursor | None


Read = Callable[[Sequence[EventRecord]], Awaitable[Sequence[T | None]]]
"""A function that returns the item of each event, or None if the page omits the event."""


async def read_page(
    package: PackageClient,
    event_filter: EventFilter,
    read: Read[T],
    limit: int = PAGE_SIZE,
    before: Cursor | None = None,
) -> Page[T]:
    """Return at most `limit` items of events before a position, newest first.

    The page ends early after `MAX_SCANNED` events, or if the node takes too long.
    """
    items: list[T] = []
    scanned, size = 0, max(limit, PAGE_SIZE)
    while True:
        batch = min(size, MAX_SCANNED - scanned)
        size *= 2  # few events have items
        page = await newest_events(package.client, event_filter, batch, before)
        for record, item in zip(page.events, await read(page.events), strict=True):
            if len(items) == limit:
                return Page(tuple(items), before)
            before = record.cursor
            if item is not None:
                items.append(item)
        scanned += len(page.events)
        before = page.next
        is_cut_short = len(page.events) < batch
        if before is None or is_cut_short or len(items) == limit or scanned >= MAX_SCANNED:
            return Page(tuple(items), before)
