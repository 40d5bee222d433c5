"""An explorer on a socket: streams of events, and many readers at once."""

import asyncio
import json
from contextlib import AsyncExitStack, suppress

import httpx
import pytest

from nexus_tools.explorer import serve_explorer
from nexus_tools.http.embedded_server import listening_socket, url_of
from tests.index.conftest import ADD

READERS, STREAMS = 100, 20


@pytest.fixture
async def serve():
    """Return a function that serves an explorer and returns a client."""
    async with AsyncExitStack() as stack:

        async def serve(explorer):
            listener = listening_socket("127.0.0.1", 0)
            await stack.enter_async_context(serve_explorer(explorer, listener))
            limits = httpx.Limits(max_connections=READERS + STREAMS)
            client = httpx.AsyncClient(base_url=url_of(listener), limits=limits, timeout=60)
            return await stack.enter_async_context(client)

        yield serve


async def next_event(client, since):
    """Return the next event after an ID."""
    async with client.stream("GET", "/api/events", params={"since": since}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                return json.loads(line[5:])
    raise AssertionError("the stream has ended")


async def test_page_shows_an_invocation_after_its_event(active_stage, show, serve):
    pages = await show()
    client = await serve(pages.explorer)
    before = (await client.get("/")).text
    invocation = await active_stage.close(ADD)
    assert str(invocation) not in before
    await show()  # reads the new events into the same file
    event = await next_event(client, f"{pages.explorer._source.state().last_seq - 1}-")
    assert event["invocation"] == str(invocation)
    assert str(invocation) in (await client.get("/")).text


async def test_many_readers_and_streams_are_served_at_once(pages, serve):
    client = await serve(pages.explorer)
    streams = [asyncio.create_task(next_event(client, "0")) for _ in range(STREAMS)]
    events = await asyncio.gather(*streams)
    assert {event["type"] for event in events} == {events[0]["type"]}
    paths = ["/", "/tools", f"/tools/{ADD}", "/leaders"] * (READERS // 4)
    responses = await asyncio.gather(*(client.get(path) for path in paths))
    assert [response.status_code for response in responses] == [200] * READERS


async def test_streams_end_when_the_explorer_is_suspended(pages, serve):
    from nexus_tools.errors import NotFoundError

    client = await serve(pages.explorer)
    async with client.stream("GET", "/api/events") as response:
        lines = response.aiter_lines()
        await anext(lines)
        pages.explorer.suspend(NotFoundError("index_missing", "gone"))
        with suppress(StopAsyncIteration):
            while True:
                assert not (await anext(lines)).startswith("data:")
    assert (await client.get("/")).status_code == 503
