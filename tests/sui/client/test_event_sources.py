"""The items that a follower gets from the frames of an event stream."""

import pytest

from nexus_tools.sui.client import Cursor, Progress
from nexus_tools.sui.client.events.event_sources import IndexEventSource
from nexus_tools.sui.rpc import load_messages

pytestmark = pytest.mark.anyio

EVENT = {
    "package_id": "0x2",
    "module": "m",
    "sender": "0x3",
    "event_type": "0x2::m::E",
    "checkpoint": 7,
    "transaction_digest": "1" * 32,
    "transaction_index": 1,
    "event_index": 0,
}


class Streaming:
    """A connection whose streams have the given frames."""

    def __init__(self, *frames):
        response = load_messages().procedures["/sui.rpc.v2.SubscriptionService/SubscribeEvents"]
        self.frames = [response.response(**fields) for fields in frames]

    async def stream(self, _name, **_fields):
        for frame in self.frames:
            yield frame


class AnyFilter:
    def message(self):
        return {}


async def live(*frames):
    return [item async for item in IndexEventSource(Streaming(*frames), AnyFilter()).live()]


async def test_watermark_behind_its_event_is_not_an_item():
    items = await live({"event": EVENT, "watermark": {"checkpoint": 6, "cursor": b"c"}})
    assert [item.cursor for item in items] == [Cursor(7, 1, 0, b"c")]


async def test_watermark_that_covers_its_event_is_an_item_after_it():
    items = await live({"event": EVENT, "watermark": {"checkpoint": 7, "cursor": b"c"}})
    assert items[1:] == [Progress(Cursor.after_checkpoint(7, b"c"))]


async def test_watermark_without_an_event_is_an_item():
    items = await live({"watermark": {"checkpoint": 7, "cursor": b"c"}})
    assert items == [Progress(Cursor.after_checkpoint(7, b"c"))]
