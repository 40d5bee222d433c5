"""A server while it is served: restarts, and the detection of changes."""

import asyncio
import json
import os
import signal
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count

import pytest
import structlog

from nexus_tools.bridges import Naming
from nexus_tools.bridges.mcp import McpBridge, ReconnectPolicy
from nexus_tools.tool_server import NotReadyError, ToolServer
from nexus_tools.tool_server.testing import client

TEXT = {"content": [{"type": "text", "text": "hello"}]}
HEALTHY = {"running": True, "unchanged": True}
AT_ONCE = ReconnectPolicy(relist_s=0, first_delay_s=0, max_delay_s=60)


@pytest.fixture
async def serve(plain, host):
    """Return a function that serves the plain server, with its service and its tools by name."""
    async with AsyncExitStack() as stack:

        async def serve(reconnect_policy=AT_ONCE):
            discovery = await McpBridge(reconnect_policy=reconnect_policy).discover(
                plain.file, host, Naming()
            )
            await stack.enter_async_context(discovery.running())
            tools = {tool.name: tool for tool in discovery.tools}
            return next(iter(tools.values())).service, tools

        yield serve


async def test_health_is_good_when_the_server_runs_unchanged_tools(plain, serve):
    plain.tell("greet", TEXT)
    _, tools = await serve()
    assert await tools["greet"].check_health() == HEALTHY


async def test_dead_server_is_restarted(plain, serve):
    plain.tell("end", "end")
    plain.tell("greet", TEXT)
    service, tools = await serve()
    assert (await tools["end"].invoke({})).is_error
    await service.up()
    assert (await tools["greet"].invoke({})).variant == "ok"
    assert await tools["greet"].check_health() == HEALTHY


async def test_health_is_bad_until_the_server_is_restarted(plain, serve):
    plain.tell("end", "end")
    _, tools = await serve(ReconnectPolicy(first_delay_s=3_600))
    assert (await tools["end"].invoke({})).is_error
    assert await tools["end"].check_health() == {"running": False, "unchanged": True}
    with pytest.raises(NotReadyError, match="not sent: the server exited with code 3"):
        await tools["end"].invoke({})


async def test_blocking_call_restarts_the_server_and_others_get_503(plain, serve):
    plain.tell("freeze", "read_no_more")
    plain.tell("greet", TEXT)
    service, tools = await serve(replace(AT_ONCE, listing_s=0.2))
    tools["freeze"]._seconds = 1
    link = service._connection.link
    async with client(ToolServer(list(tools.values()))) as http:
        blocking = asyncio.create_task(tools["freeze"].invoke({}))
        await asyncio.sleep(0)
        # The server may read one more call before it stops reading.
        for number in count():
            key = {"idempotency-key": f"before-{number}"}
            other = await http.post("/greet/invoke", json={}, headers=key)
            if other.status_code != 200:
                break
        assert (other.status_code, other.json()["code"]) == (503, "not_ready")
        assert (await blocking).ports["limit"] == "time"
        await link.closed.wait()
        await service.up()
        again = await http.post("/greet/invoke", json={}, headers={"idempotency-key": "a"})
    assert "ok" in again.json()


async def test_restart_delay_doubles_up_to_the_maximum(plain, serve, monkeypatch):
    plain.tell("greet", TEXT)
    pauses = []
    enough = asyncio.Event()

    async def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 5:
            enough.set()
            await asyncio.Event().wait()

    _, tools = await serve(ReconnectPolicy(first_delay_s=0.5, max_delay_s=3))
    monkeypatch.setattr("nexus_tools.bridges.mcp.supervisor.pause", pause)
    plain.told.unlink()
    assert (await tools["greet"].invoke({})).is_error
    await enough.wait()
    assert pauses == [0.5, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"description": "now it is another"}, "the description"),
        ({"inputSchema": {"type": "object", "required": ["a"]}}, "the input schema"),
        ({"outputSchema": {"type": "object"}}, "the output schema"),
        ({"annotations": {"readOnlyHint": True}}, "the annotations"),
    ],
)
async def test_changed_tool_is_unhealthy_and_not_called(plain, serve, change, words):
    plain.tell("greet", TEXT)
    _, tools = await serve()
    plain.tell("greet", TEXT, **change)
    assert await tools["greet"].check_health() == {"running": True, "unchanged": False}
    expected = f"not sent: the tool has changed since it was discovered: {words}."
    with pytest.raises(NotReadyError, match=expected):
        await tools["greet"].invoke({})


async def test_removed_tool_is_unhealthy(plain, serve):
    plain.tell("greet", TEXT)
    _, tools = await serve()
    plain.save(tools=[])
    assert await tools["greet"].check_health() == {"running": True, "unchanged": False}
    with pytest.raises(NotReadyError, match="no longer lists the tool"):
        await tools["greet"].invoke({})


async def test_change_of_one_tool_does_not_affect_the_others(plain, serve):
    plain.tell("greet", TEXT)
    plain.tell("part", TEXT)
    _, tools = await serve()
    plain.tell("greet", TEXT, description="now it is another")
    assert await tools["part"].check_health() == HEALTHY
    assert (await tools["part"].invoke({})).variant == "ok"


async def test_reverted_tool_is_called_again(plain, serve):
    plain.tell("greet", TEXT)
    _, tools = await serve()
    plain.tell("greet", TEXT, description="now it is another")
    await tools["greet"].check_health()
    plain.tell("greet", TEXT)
    assert await tools["greet"].check_health() == HEALTHY
    assert (await tools["greet"].invoke({})).variant == "ok"


async def test_announced_change_is_noticed_without_a_health_request(plain, serve):
    plain.tell("announce", "announce")
    service, tools = await serve(ReconnectPolicy())
    change_seen = asyncio.Event()
    compare = service._compare

    async def comparing(*arguments):
        await compare(*arguments)
        change_seen.set()

    service._compare = comparing
    plain.tell("announce", "announce", description="now it is another")
    assert (await tools["announce"].invoke({})).variant == "ok"
    await change_seen.wait()
    with pytest.raises(NotReadyError, match="has changed"):
        await tools["announce"].invoke({})


async def test_change_during_an_outage_is_noticed(plain, serve):
    plain.tell("end", "end")
    service, tools = await serve(AT_ONCE)
    plain.tell("end", TEXT, description="harmless")
    plain.save(results={"end": "end"})
    assert (await tools["end"].invoke({})).is_error
    await service.up()
    with pytest.raises(NotReadyError, match="has changed"):
        await tools["end"].invoke({})


async def test_health_requests_limit_the_listing_rate(plain, serve):
    plain.tell("greet", TEXT)
    _, tools = await serve(ReconnectPolicy(relist_s=3_600))
    plain.tell("greet", TEXT, description="now it is another")
    assert await tools["greet"].check_health() == HEALTHY


async def test_discovery_can_be_served_in_another_event_loop(plain, host):
    plain.tell("greet", TEXT)

    def in_a_loop(work):
        return asyncio.run(work)

    discovery = await asyncio.to_thread(in_a_loop, McpBridge().discover(plain.file, host, Naming()))
    async with discovery.running():
        assert (await discovery.tools[0].invoke({})).variant == "ok"


async def test_server_output_is_logged(plain, serve):
    plain.tell("end", "end")
    with structlog.testing.capture_logs() as log:
        _, tools = await serve()
        await tools["end"].invoke({})
    [entry_of_output] = [entry for entry in log if entry["event"] == "server_output"]
    assert (entry_of_output["server"], entry_of_output["line"]) == ("plain", "there is no way on")


async def test_slow_server_is_unhealthy_and_closed_after_the_third_time(plain, serve):
    plain.tell("look", "surroundings")
    service, tools = await serve(ReconnectPolicy(relist_s=0, listing_s=0.1, first_delay_s=3_600))
    pid = json.loads((await tools["look"].invoke({})).ports["text"])["pid"]
    os.kill(pid, signal.SIGSTOP)
    link = service._connection.link
    closed = []
    for _ in range(3):
        assert await tools["look"].check_health() == {"running": False, "unchanged": True}
        closed.append(link.closed.is_set())
    assert closed == [False, False, True]
