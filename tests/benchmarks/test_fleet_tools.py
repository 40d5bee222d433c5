"""The tool server of the benchmark of a fleet."""

import asyncio

import httpx
import pytest

from benchmarks.fleet_tools import HANGING, QUICK, RecordingServer
from nexus_tools.tool import protocol
from nexus_tools.tool_server import serving

pytestmark = pytest.mark.anyio


def invoke(http, url, tool, invocation):
    path = protocol.tool_url(url, protocol.tool_path(tool))
    headers = {protocol.INVOCATION_HEADER: invocation, protocol.IDEMPOTENCY_KEY_HEADER: invocation}
    return http.post(protocol.endpoint(path, protocol.INVOKE), json={"number": 7}, headers=headers)


@pytest.fixture
async def served():
    server = RecordingServer()
    async with serving(server) as url, httpx.AsyncClient() as http:
        yield server, url, http


async def test_server_records_answered_and_refused_calls(served):
    server, url, http = served
    answers = await asyncio.gather(*(invoke(http, url, QUICK, "0x1") for _ in range(2)))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert [call.tool for call in server.calls] == [str(QUICK)] * 2
    assert sorted(call.is_repetition for call in server.calls) == [False, True]
    assert all(call.ended_at >= call.started_at for call in server.calls)


async def test_hanging_tool_ends_only_when_the_caller_leaves(served):
    server, url, http = served
    calling = asyncio.create_task(invoke(http, url, HANGING[0], "0x1"))
    async with asyncio.timeout(30):
        while not server.calls:  # noqa: ASYNC110 - the server does not report arrivals
            await asyncio.sleep(0)
        [call] = server.calls
        assert call.ended_at is None
        calling.cancel()
        while call.ended_at is None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
    assert (call.status, call.tool) == (0, str(HANGING[0]))
