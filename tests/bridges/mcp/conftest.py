"""The servers that the tests of bridged MCP tools share."""

import importlib.util
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgeHost, Naming
from nexus_tools.bridges.mcp import McpBridge

HERE = Path(__file__).parent


def _module(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def modern_server():
    """Return a server of the SDK, and the state of it that a test can change."""
    return _module(HERE / "servers" / "modern.py").build()


class PlainServer:
    """The plain server of `servers/plain.py`, its script, and the `mcp.json` that names it."""

    def __init__(self, folder):
        self.file = folder / "mcp.json"
        self.told = folder / "told.json"
        self.server = {
            "command": sys.executable,
            "args": ["-I", str(HERE / "servers" / "plain.py"), str(self.told)],
        }
        self.declare(plain=self.server)
        self.document = {"tools": [], "results": {}}

    def declare(self, **servers):
        self.file.write_text(json.dumps({"mcpServers": servers}))

    def tell(self, name, result, **entry):
        """List another tool, and set the result of its calls."""
        entry = {"name": name, "inputSchema": {"type": "object"}} | entry
        others = [tool for tool in self.document["tools"] if tool.get("name") != name]
        self.document["tools"] = [*others, entry]
        self.document["results"][name] = result
        self.save()

    def save(self, **more):
        self.document |= more
        self.told.write_text(json.dumps(self.document))


@pytest.fixture
def plain(tmp_path):
    return PlainServer(tmp_path)


@pytest.fixture
def host(tmp_path):
    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "SECRET": "the operator's",
            "PRIVATE": "nobody's business",
        },
        shared=frozenset({"SECRET", "UNSET"}),
        timeout_ms=8_000,
    )


@pytest.fixture
async def serve_tools(host):
    """Return a function that discovers and serves the tools of an `mcp.json`, by name."""
    async with AsyncExitStack() as stack:

        async def serve(file, *, host=host, **options):
            discovery = await McpBridge(**options).discover(file, host, Naming())
            assert discovery.rejected == ()
            await stack.enter_async_context(discovery.running())
            return {tool.name: tool for tool in discovery.tools}

        yield serve


@pytest.fixture
def make_sse_app():
    """Return a function that makes an ASGI application with the transport of 2024-11-05."""
    return _sse_app


def _sse_app(server):
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def sse(request):
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await server.run(*streams, server.create_initialization_options())
        return Response()

    return Starlette(
        routes=[Route("/sse", sse), Mount("/messages/", app=transport.handle_post_message)]
    )
