"""The HTTP client for authors' tests, which calls a server in the same process without a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from nexus_tools.tool_server.server import ToolServer

BASE_URL = "http://tools.test"


@asynccontextmanager
async def client(server: ToolServer) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the running server, within its lifespan, with the base URL `BASE_URL`."""
    async with (
        server.running(),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=server), base_url=BASE_URL) as http,
    ):
        yield http
