"""Where a new journal begins to read events: nothing that is still open lies before."""

from contextlib import aclosing

from nexus_tools.client import Cursor, EventFilter, SuiClient, follow_events
from nexus_tools.errors import NotFoundError

_GROWTH = 4


async def starting_cursor(
    client: SuiClient, event_filter: EventFilter, look_back_ms: int
) -> Cursor:
    """A place at least `look_back_ms` before now, found in steps back that grow.

    On a node that has forgotten what was then, the earliest place that it has.
    """
    tip = await _tip(client, event_filter)
    now_ms = await client.checkpoint_time_ms(tip)
    place, step = tip, 1
    while place > 0:
        earlier = max(0, tip - step)
        try:
            time_ms = await client.checkpoint_time_ms(earlier)
        except NotFoundError:
            return Cursor.after_checkpoint(place)
        if now_ms - time_ms > look_back_ms:
            return Cursor.after_checkpoint(earlier)
        place, step = earlier, step * _GROWTH
    return Cursor.beginning()


async def _tip(client: SuiClient, event_filter: EventFilter) -> int:
    items = follow_events(client, event_filter)
    async with aclosing(items):
        return (await anext(items)).cursor.checkpoint
