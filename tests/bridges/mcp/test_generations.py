"""Servers of the SDK, in both generations of the protocol, by program and by address."""

import asyncio
import sys
from pathlib import Path

import mcp_types as types
import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.mcp import McpBridge, Patience
from nexus_tools.tool_server import NotReadyError

MODERN = Path(__file__).parent / "servers" / "modern.py"


@pytest.fixture(params=["auto", "legacy"])
def generation(request):
    return request.param


@pytest.fixture(params=["stdio", "http", "sse"])
async def declared(request, plain, modern, serve_app, sse_app):
    """The `mcp.json` of the server, by each transport that it can be reached by."""
    if request.param == "stdio":
        plain.declare(modern={"command": sys.executable, "args": [str(MODERN)]})
    elif request.param == "http":
        url = await serve_app(modern[0].streamable_http_app())
        plain.declare(modern={"type": "streamable-http", "url": f"{url}/mcp"})
    else:
        url = await serve_app(sse_app(modern[0]))
        plain.declare(modern={"type": "sse", "url": f"{url}/sse"})
    return plain.file


async def test_a_tool_is_called(declared, generation, served):
    tools = await served(declared, generation=generation)
    outcome = await tools["add"].invoke({"a": 1, "b": 2})
    assert outcome.as_json() == {"ok": {"result": 3}}


async def test_a_server_is_healthy(declared, generation, served):
    tools = await served(declared, generation=generation, patience=Patience(relist_s=0))
    assert await tools["add"].check_health() == {"running": True, "unchanged": True}


@pytest.fixture
async def address(plain, modern, serve_app):
    """The `mcp.json` of the server at an address; a header has a secret."""
    url = await serve_app(modern[0].streamable_http_app())
    headers = {"Authorization": "Bearer ${SECRET}"}
    plain.declare(modern={"type": "http", "url": f"{url}/mcp", "headers": headers})
    return plain.file


async def test_a_demand_for_input_is_err(address, served):
    tools = await served(address)
    outcome = await tools["ask"].invoke({})
    assert outcome.ports == {
        "reason": "the tool asks for input that nobody is here to give: elicitation/create",
        "type": "input_required",
    }


async def test_headers_are_sent_with_their_placeholders_filled(address, served, modern):
    tools = await served(address)
    await tools["headers"].invoke({})
    [heard] = modern[1]["heard"]
    assert heard["authorization"] == "Bearer the operator's"
    assert heard["accept-encoding"] == "identity"


async def test_a_change_that_is_announced_to_subscribers_is_seen(address, served, modern):
    tools = await served(address)
    service = tools["add"].service
    seen = asyncio.Event()
    compare = service._compare

    async def comparing(*arguments):
        await compare(*arguments)
        seen.set()

    service._compare = comparing
    await modern[1]["bus"].has_listener.wait()
    await tools["change"].invoke({})
    await seen.wait()
    with pytest.raises(NotReadyError, match="changed since it was discovered: the description"):
        await tools["add"].invoke({"a": 1, "b": 2})


async def test_an_argument_that_is_sent_as_a_header_too_is_sent_so(address, served, modern):
    region = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"region": region}}
    modern[1]["more"] = [types.Tool(name="region", input_schema=schema)]
    tools = await served(address)
    assert (await tools["region"].invoke({"region": "eu"})).variant == "ok"


async def test_a_tool_whose_header_is_invalid_is_refused(address, host, modern):
    region = {"type": "string", "x-mcp-header": "not a header"}
    schema = {"type": "object", "properties": {"region": region}}
    modern[1]["more"] = [types.Tool(name="region", input_schema=schema)]
    found = await McpBridge().discover(address, host, Naming())
    [refusal] = found.refused
    assert refusal.source.endswith("#modern/region")
    assert refusal.reason.startswith("x-mcp-header: ")
