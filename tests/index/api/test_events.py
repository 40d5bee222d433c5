"""Server-Sent Events: order, resumption, rollbacks, and limits."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager, contextmanager

import httpx
import pytest

from nexus_tools.http.bounded_http import BoundedHttpProtocol
from nexus_tools.index.api import ApiLimits, IndexSource
from nexus_tools.index.api.documents import RolledBackEvent
from nexus_tools.index.api.feed import BATCH_ROWS, Feed
from tests.index.api.conftest import check
from tests.index.synthetic import object_id

pytestmark = pytest.mark.anyio
FAST = ApiLimits(requests_per_s=1_000, burst=1_000, poll_s=0.01, heartbeat_s=0.02)


class Stream:
    """A reader of a stream."""

    def __init__(self, response):
        self.response = response
        self._lines = response.aiter_lines()

    async def block(self):
        """Return the fields of the next block."""
        fields = {}
        async for line in self._lines:
            if not line:
                return fields
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        return None

    async def event(self):
        """Return the next event and its ID, without heartbeats."""
        while (block := await self.block()) is not None:
            if "data" in block:
                event = json.loads(block["data"])
                assert event["type"] == block["event"]
                return event, block["id"]
        return None

    async def events(self, count):
        return [await self.event() for _ in range(count)]


@asynccontextmanager
async def following(client, since=None, last_event_id=None):
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    parameters = {} if since is None else {"since": since}
    async with (
        asyncio.timeout(30),
        client.http.stream(
            "GET", "/api/events", params=parameters, headers=headers, timeout=30
        ) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        yield Stream(response)


@pytest.fixture
async def client(synthetic, serve):
    events = synthetic.events
    synthetic.write(events.tool(1), events.leader(1), *events.invocation(1))
    return await serve(synthetic.index, limits=FAST)


def kinds(events):
    return [event["type"] for event, _ in events]


async def test_stream_starts_at_the_beginning_with_zero(client):
    async with following(client, "0") as stream:
        events = await stream.events(4)
    assert kinds(events) == [
        "tool_registered",
        "leader_registered",
        "invocation_requested",
        "invocation_closed",
    ]
    tool, leader, request, closing = (event for event, _ in events)
    assert tool["fqn"] == "xyz.domain1.tool1@1"
    assert leader["leader"] == str(object_id("leader", 1))
    assert request["fqn"] == closing["fqn"] == "xyz.domain1.tool1@1"
    assert request["leaders"] == [str(object_id("leader", 1))]
    assert request["expires_at_ms"] == request["requested_at_ms"] + 20_000
    assert request["invocation"] == closing["invocation"]
    assert closing["invocation"] == str(object_id("invocation", 1))
    assert (closing["outcome"], closing["latency_ms"]) == ("settled", 300)


async def test_stream_without_since_has_only_new_events(client, synthetic):
    async with following(client) as stream:
        await stream.block()
        synthetic.write(synthetic.events.tool(2))
        [(event, _)] = await stream.events(1)
    assert event["tool"] == str(object_id("tool", 2))


async def test_events_arrive_in_order_without_gaps(client, synthetic):
    async with following(client) as stream:
        await stream.block()
        for number in range(2, 40):
            synthetic.write(*synthetic.events.invocation(number))
        events = await stream.events(2 * 38)
    assert [(event["invocation"], event["type"]) for event, _ in events] == [
        (str(object_id("invocation", number)), kind)
        for number in range(2, 40)
        for kind in ("invocation_requested", "invocation_closed")
    ]


async def test_client_resumes_after_its_last_event(client, synthetic):
    async with following(client, "0") as stream:
        events = await stream.events(4)
    synthetic.write(synthetic.events.tool(2))
    for position in range(4):
        last_id = events[position][1]
        for options in ({"last_event_id": last_id, "since": "0"}, {"since": last_id}):
            async with following(client, **options) as stream:
                rest = await stream.events(4 - position)
            assert rest[:-1] == events[position + 1 :]
            assert rest[-1][0]["tool"] == str(object_id("tool", 2))


async def test_many_events_are_read_in_batches(synthetic, serve):
    count = BATCH_ROWS + 10
    items = [item for number in range(count) for item in synthetic.events.invocation(number)]
    synthetic.write(*items)
    client = await serve(synthetic.index, limits=FAST)
    async with following(client, "0") as stream:
        events = await stream.events(2 * count)
    assert len({event_id for _, event_id in events}) == 2 * count


async def test_rollback_is_reported_to_a_connected_client(client, synthetic):
    async with following(client, "0") as stream:
        await stream.events(4)
        synthetic.roll_back(2)
        event, event_id = await stream.event()
        assert event["type"] == "rolled_back"
        synthetic.write(synthetic.events.tool(5))
        [(later, _)] = await stream.events(1)
    assert later["tool"] == str(object_id("tool", 5))
    async with following(client, event_id) as stream:
        assert await stream.events(1) == [(later, _)]


async def test_client_without_events_resumes_without_a_gap(client, synthetic):
    async with following(client) as stream:
        last_id = (await stream.block())["id"]
    synthetic.write(synthetic.events.tool(2))
    async with following(client, last_event_id=last_id) as stream:
        [(event, _)] = await stream.events(1)
    assert event["tool"] == str(object_id("tool", 2))


async def test_rollback_is_reported_to_a_client_that_resumes(client, synthetic):
    async with following(client, "0") as stream:
        events = await stream.events(4)
    synthetic.roll_back(2)
    for _ in range(2):  # first fewer rows than before, then other rows with the same numbers
        async with following(client, events[3][1]) as stream:
            event, _ = await stream.event()
            assert event["type"] == "rolled_back"
        synthetic.write(*synthetic.events.invocation(8))
    async with following(client, events[1][1]) as stream:
        event, _ = await stream.event()
    assert event["invocation"] == str(object_id("invocation", 8))


@pytest.mark.parametrize("since", ["x", "-", "-1", "5", "1e3-aa", "9" * 30 + "-a", "٣-aa", "1 2"])
async def test_invalid_position_is_refused(client, since):
    assert await client.fails("/api/events", since=since) == (400, "cursor_invalid")


async def test_silent_stream_has_heartbeats(client):
    async with following(client) as stream:
        assert await stream.block() == {"id": "4-", "retry": "3000"}
        for _ in range(3):
            assert await stream.block() == {"": "heartbeat"}


async def test_streams_are_limited_per_client_and_released(synthetic, serve):
    limits = ApiLimits(poll_s=0.01, heartbeat_s=0.01, streams_per_client=2)
    client = await serve(synthetic.index, limits=limits)
    async with following(client) as one, following(client) as two:
        await one.block()
        await two.block()
        assert client.api.open_streams == 2
        response = await client.get("/api/events")
        assert (response.status_code, response.json()["code"]) == (429, "streams_exhausted")
        assert response.headers["retry-after"] == "10"
    await until(lambda: client.api.open_streams == 0)
    async with following(client) as stream:
        await stream.block()


async def test_streams_are_limited_in_total(synthetic, serve):
    limits = ApiLimits(streams=1)
    client = await serve(synthetic.index, limits=limits, trusted_proxies=["127.0.0.1"])
    async with following(client) as stream:
        await stream.block()
        headers = {"X-Forwarded-For": "203.0.113.9"}
        response = await client.get("/api/events", headers=headers)
        assert response.json()["code"] == "streams_exhausted"


async def test_slow_client_is_disconnected_and_others_are_served(synthetic, serve, monkeypatch):
    monkeypatch.setattr(BoundedHttpProtocol, "stall_timeout_s", 0.5)
    items = [item for number in range(1_000) for item in synthetic.events.invocation(number)]
    synthetic.write(*items)
    client = await serve(synthetic.index, limits=FAST, send_buffer=4_096)
    with slow_client(client.url) as slow:
        assert await asyncio.to_thread(slow.recv, 100)
        await client.json("/api/status")
        async with following(client) as stream:
            await stream.block()
            synthetic.write(synthetic.events.tool(99))
            assert (await stream.event())[0]["tool"] == str(object_id("tool", 99))
            await until(lambda: client.api.open_streams == 1)


@contextmanager
def slow_client(url):
    """Request all events with a socket that buffers only a few of them."""
    url = httpx.URL(url)
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.connect((url.host, url.port))
        slow.sendall(b"GET /api/events?since=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        yield slow


async def test_stream_ends_when_the_server_stops(client):
    async with following(client) as stream:
        await stream.block()
        client.api.close()
        while (block := await stream.block()) is not None:
            assert block == {"": "heartbeat"}


async def test_stream_is_described(client):
    response = await client.http.head("/api/events")
    assert response.status_code == 200
    check(await client.http.get("/api/events", params={"since": "x"}))


def test_rows_that_replace_others_between_two_reads_are_reported(synthetic, feed):
    synthetic.write(synthetic.events.tool(1), *synthetic.events.invocation(1))
    position = feed.position("0")
    assert len(feed.read(position)) == 3
    synthetic.roll_back(1)
    synthetic.write(*synthetic.events.invocation(2), *synthetic.events.invocation(3))
    [(_, event)] = feed.read(position)
    assert (type(event), event.seq) == (RolledBackEvent, 5)
    assert feed.read(position) is None


def test_reading_costs_one_statement_without_changes(synthetic, source, feed):
    synthetic.write(*synthetic.events.invocation(1))
    position = feed.position(None)
    assert feed.read(position) is None
    statements = []
    source.connection.set_trace_callback(statements.append)
    assert feed.read(position) is None
    assert len(statements) == 1


@pytest.fixture
def source(synthetic):
    source = IndexSource(synthetic.index.path, synthetic.index.identity)
    yield source
    source.close()


@pytest.fixture
def feed(source):
    return Feed(source)


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
