"""Misbehaving servers with a URL."""

import asyncio
import gzip
import json
import socket
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from nexus_tools.bridges import Naming
from nexus_tools.bridges.mcp import McpBridge, ReconnectPolicy
from nexus_tools.bridges.sandbox import ProcessLimits

LISTING = {"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}
SERVER = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}
TEXT = {"content": [{"type": "text", "text": "hello"}]}


def answer(message, result):
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})


@pytest.fixture
async def write_odd_server(plain, serve_app):
    """Return a function that writes the `mcp.json` of a server with a custom response."""

    async def make(call):
        async def post(request):
            message = await request.json()
            results = {"initialize": SERVER, "tools/list": LISTING}
            if message["method"] == "tools/call":
                return call(message, request)
            if message["method"] in results:
                return answer(message, results[message["method"]])
            if "id" in message:
                error = {"code": -32601, "message": "Method not found"}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return Response(status_code=202)

        async def elsewhere(request):
            message = json.loads(await request.body())
            return answer(message, {"content": [{"type": "text", "text": "followed"}]})

        url = await serve_app(
            Starlette(
                routes=[
                    Route("/mcp", post, methods=["POST"]),
                    Route("/elsewhere", elsewhere, methods=["POST"]),
                ]
            )
        )
        plain.declare(odd={"url": f"{url}/mcp"})
        return plain.file

    return make


async def reason_of(tools):
    outcome = await tools["greet"].invoke({})
    assert outcome.is_error
    return outcome.ports["reason"]


async def test_redirect_is_not_followed(write_odd_server, serve_tools):
    file = await write_odd_server(lambda _, __: RedirectResponse("/elsewhere", status_code=307))
    assert "not followed" in await reason_of(await serve_tools(file))


async def test_too_long_response_is_err_and_the_next_call_works(
    write_odd_server, serve_tools, host
):
    texts = iter(["x" * 200_000, "short"])

    def call(message, _):
        return answer(message, {"content": [{"type": "text", "text": next(texts)}]})

    limits = ProcessLimits(output_bytes=100_000)
    tools = await serve_tools(await write_odd_server(call), host=replace(host, limits=limits))
    assert "longer than 100000 bytes" in await reason_of(tools)
    assert (await tools["greet"].invoke({})).ports["text"] == "short"


async def test_too_long_event_is_err(write_odd_server, serve_tools, host):
    def call(_, __):
        return StreamingResponse(
            iter([b"data: ", b"x" * 200_000, b"\n\n"]), media_type="text/event-stream"
        )

    limits = ProcessLimits(output_bytes=100_000)
    tools = await serve_tools(await write_odd_server(call), host=replace(host, limits=limits))
    assert await reason_of(tools)
    assert (await tools["greet"].check_health())["unchanged"]


async def test_compressed_response_is_err(write_odd_server, serve_tools):
    def call(message, _):
        document = {"jsonrpc": "2.0", "id": message["id"], "result": TEXT}
        return Response(
            gzip.compress(json.dumps(document).encode()),
            media_type="application/json",
            headers={"content-encoding": "gzip"},
        )

    tools = await serve_tools(await write_odd_server(call))
    assert "compressed its response" in await reason_of(tools)


async def test_error_status_is_err(write_odd_server, serve_tools):
    tools = await serve_tools(await write_odd_server(lambda _, __: Response(status_code=500)))
    assert await reason_of(tools)


async def test_slow_server_is_err(write_odd_server, serve_tools, host):
    async def never():
        yield b": waiting\n\n"
        await asyncio.Event().wait()

    file = await write_odd_server(
        lambda _, __: StreamingResponse(never(), media_type="text/event-stream")
    )
    tools = await serve_tools(file, host=replace(host, timeout_ms=1_000))
    outcome = await tools["greet"].invoke({})
    assert outcome.ports == {"reason": "the server did not respond within 0.5 s", "limit": "time"}


async def test_url_without_a_listener_is_refused(plain, host):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    plain.declare(gone={"url": f"http://127.0.0.1:{port}/mcp"})
    discovery = await McpBridge().discover(plain.file, host, Naming())
    [refusal] = discovery.rejected
    assert "cannot reach the server" in refusal.reason


async def test_health_is_bad_when_the_server_is_gone(plain, host, serve_app):
    down = False

    async def app(scope, receive, send):
        if scope["type"] == "http" and down:
            await Response(status_code=503)(scope, receive, send)
        else:
            await inner(scope, receive, send)

    async def post(request):
        message = await request.json()
        results = {"initialize": SERVER, "tools/list": LISTING}
        if message["method"] in results:
            return answer(message, results[message["method"]])
        return Response(status_code=404 if "id" in message else 202)

    inner = Starlette(routes=[Route("/mcp", post, methods=["POST"])])
    plain.declare(odd={"url": f"{await serve_app(app)}/mcp"})
    bridge = McpBridge(reconnect_policy=ReconnectPolicy(relist_s=0, first_delay_s=3_600))
    discovery = await bridge.discover(plain.file, host, Naming())
    async with discovery.running():
        [tool] = discovery.tools
        assert await tool.check_health() == {"running": True, "unchanged": True}
        down = True
        assert await tool.check_health() == {"running": False, "unchanged": True}


async def test_forgotten_session_is_started_again(plain, host, serve_app):
    sessions = iter(["first", "second", "third"])
    known = set()

    async def post(request):
        message = await request.json()
        if message["method"] == "initialize":
            known.add(session := next(sessions))
            response = answer(message, SERVER)
            response.headers["mcp-session-id"] = session
            return response
        if request.headers.get("mcp-session-id") not in known:
            return Response(status_code=404)
        results = {"tools/list": LISTING, "tools/call": TEXT}
        if message["method"] in results:
            return answer(message, results[message["method"]])
        return Response(status_code=202)

    app = Starlette(routes=[Route("/mcp", post, methods=["POST"])])
    plain.declare(odd={"url": f"{await serve_app(app)}/mcp"})
    bridge = McpBridge(reconnect_policy=ReconnectPolicy(first_delay_s=0), generation="legacy")
    discovery = await bridge.discover(plain.file, host, Naming())
    async with discovery.running():
        [tool] = discovery.tools
        known.clear()
        assert (await tool.invoke({})).is_error
        await tool.service.up()
        assert (await tool.invoke({})).variant == "ok"
