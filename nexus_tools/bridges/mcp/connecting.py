"""Reaches a server, and agrees with it on the protocol."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Literal

import anyio
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from nexus_tools import __version__
from nexus_tools.bridges.base import Host
from nexus_tools.bridges.mcp.call_failed import CallFailedError
from nexus_tools.bridges.mcp.connection import Connection
from nexus_tools.bridges.mcp.declaration import ServerDeclaration, StdioServer
from nexus_tools.bridges.mcp.explaining import explained, explained_as_a_whole, is_end
from nexus_tools.bridges.mcp.http import http_link
from nexus_tools.bridges.mcp.link import Link
from nexus_tools.bridges.mcp.sifting import SiftingDispatcher
from nexus_tools.bridges.mcp.stdio import stdio_link

Generation = Literal["auto", "legacy"]
"""`legacy` begins with `initialize`; `auto` asks for 2026-07-28 and falls back to it."""

# A server may have to be downloaded first, as with npx and uvx.
START_S = 60.0


@asynccontextmanager
async def connected(
    server: ServerDeclaration,
    host: Host,
    generation: Generation = "auto",
    *,
    log_as: str | None = None,
) -> AsyncIterator[Connection]:
    """Reach the server, starting it if it is a program; it is stopped in the end.

    What a program prints on stderr goes to the log under the name `log_as`, or nowhere. Raises
    `CallFailedError` if it cannot be reached or speaks no protocol of ours.
    """
    async with explained_as_a_whole(), _link(server, host, log_as) as link:
        changed = asyncio.Event()

        async def hear(message: object) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                changed.set()

        dispatcher = SiftingDispatcher(JSONRPCDispatcher(link.read, link.write))
        client = types.Implementation(name="nexus-tools", version=__version__)
        async with ClientSession(
            dispatcher=dispatcher, message_handler=hear, client_info=client
        ) as session:
            async with explained(link, START_S):
                await _agree(session, generation)
            dispatcher.version = session.protocol_version or ""
            connection = Connection(session, dispatcher, link, changed)
            async with anyio.create_task_group() as tasks:
                if connection.is_modern and connection.announces_changes:
                    tasks.start_soon(connection.watch)
                try:
                    yield connection
                finally:
                    link.close("the connection to the server was given up")
                    tasks.cancel_scope.cancel()


def _link(
    server: ServerDeclaration, host: Host, log_as: str | None
) -> AbstractAsyncContextManager[Link]:
    if isinstance(server, StdioServer):
        return stdio_link(log_as, server, host)
    return http_link(server, host.limits.output_bytes)


async def _agree(session: ClientSession, generation: Generation) -> None:
    if generation == "auto":
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValidationError) as error:
            if isinstance(error, MCPError) and is_end(error):
                raise
        else:
            return
    try:
        await session.initialize()
    except MCPError as error:
        # Slow to start, it has taken the question that we gave up for the beginning.
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION or generation == "legacy":
            raise
        await session.discover()
    except RuntimeError as error:
        raise CallFailedError(str(error)) from error
