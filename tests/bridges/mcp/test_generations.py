"""Servers of the SDK, in both generations of the protocol, as a program and as a URL."""

import asyncio
import sys
from pathlib import Path

import mcp_types as types
import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.mcp import McpBridge, ReconnectPolicy
from nexus_tools.tool_server import NotReadyError

MODERN = Path(__file__).parent / "servers" / "modern.py"


@pytest.fixture(params=["auto", "legacy"])
def generation(request):
    return request.param


@pytest.fixture(params=["stdio", "http", "sse"])
async def declared_file(request, plain, modern_server, serve_app, make_sse_app):
    """Return the `mcp.json` of the server for each of its transports."""
    if request.param == "stdio":
        plain.declare(modern={"command": sys.executable, "args": [str(MODERN)]})
    elif request.param == "http":
        url = await serve_app(modern_server[0].streamable_http_app())
        plain.declare(modern={"type": "streamable-http", "url": f"{url}/mcp"})
    else:
        url = await serve_app(make_sse_app(modern_server[0]))
        plain.declare(modern={"type": "sse", "url": f"{url}/sse"})
    return plain.file


async def test_tool_is_called(declared_file, generation, serve_tools):
    tools = await serve_tools(declared_file, generation=generation)
    outcome = await tools["add"].invoke({"a": 1, "b": 2})
    assert outcome.as_json() == {"ok": {"result": 3}}


@pytest.mark.long
async def test_server_is_healthy(declared_file, generation, serve_tools):
    tools = await serve_tools(
        declared_file, generation=generation, reconnect_policy=ReconnectPolicy(relist_s=0)
    )
    assert await tools["add"].check_health() == {"running": True, "unchanged": True}


@pytest.fixture
async def url_file(plain, modern_server, serve_app):
    """Return the `mcp.json` of the server with a URL and a secret header."""
    url = await serve_app(modern_server[0].streamable_http_app())
    headers = {"Authorization": "Bearer ${SECRET}"}
    plain.declare(modern={"type": "http", "url": f"{url}/mcp", "headers": headers})
    return plain.file


async def test_request_for_input_is_err(url_file, serve_tools):
    tools = await serve_tools(url_file)
    outcome = await tools["ask"].invoke({})
    assert outcome.ports == {
        "reason": "the tool requests user input, which is not supported: elicitation/create",
        "type": "input_required",
    }


async def test_headers_are_sent_with_replaced_placeholders(url_file, serve_tools, modern_server):
    tools = await serve_tools(url_file)
    await tools["headers"].invoke({})
    [heard] = modern_server[1]["heard"]
    assert heard["authorization"] == "Bearer the operator's"
    assert heard["accept-encoding"] == "identity"


async def test_announced_change_is_noticed(url_file, serve_tools, modern_server):
    tools = await serve_tools(url_file)
    service = tools["add"].service
    change_seen = asyncio.Event()
    compare = service._compare

    async def comparing(*arguments):
        await compare(*arguments)
        change_seen.set()

    service._compare = comparing
    await modern_server[1]["bus"].has_listener.wait()
    await tools["change"].invoke({})
    await change_seen.wait()
    with pytest.raises(NotReadyError, match="changed since it was discovered: the description"):
        await tools["add"].invoke({"a": 1, "b": 2})


async def test_header_argument_is_also_sent_as_a_header(url_file, serve_tools, modern_server):
    region = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"region": region}}
    modern_server[1]["more"] = [types.Tool(name="region", input_schema=schema)]
    tools = await serve_tools(url_file)
    assert (await tools["region"].invoke({"region": "eu"})).variant == "ok"


async def test_tool_with_an_invalid_header_is_refused(url_file, host, modern_server):
    region = {"type": "string", "x-mcp-header": "not a header"}
    schema = {"type": "object", "properties": {"region": region}}
    modern_server[1]["more"] = [types.Tool(name="region", input_schema=schema)]
    discovery = await McpBridge().discover(url_file, host, Naming())
    [refusal] = discovery.rejected
    assert refusal.source.endswith("#modern/region")
    assert refusal.reason.startswith("x-mcp-header: ")
