"""Pages of a stream of events, for followers that process several events at once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from time import monotonic

from nexus_tools.sui.client.events.events import Item

# A page costs as much as several events. A page after a pause is not delayed.
_SECONDS_BETWEEN_PAGES = 0.005


async def paginate(items: AsyncIterator[Item], most: int = 500) -> AsyncGenerator[list[Item], None]:
    """Yield non-empty lists of the items that arrived since the previous list, at most `most`.

    While items arrive without pause, a list has the items of at least 5 ms.
    """
    next_at = 0.0
    page: list[Item] = []
    has_changed, has_room = asyncio.Event(), asyncio.Event()

    async def pump() -> None:
        async for item in items:
            page.append(item)
            has_changed.set()
            if len(page) == most:
                has_room.clear()
                await has_room.wait()

    pumping = asyncio.create_task(pump())
    pumping.add_done_callback(lambda _: has_changed.set())
    try:
        while page or not pumping.done():
            await has_changed.wait()
            if (pause_s := next_at - monotonic()) > 0:
                await asyncio.sleep(pause_s)
            has_changed.clear()
            if page:
                next_at = monotonic() + _SECONDS_BETWEEN_PAGES
                full, page = page, []
                has_room.set()
                yield full
        pumping.result()
    finally:
        pumping.cancel()
        await asyncio.wait({pumping})
