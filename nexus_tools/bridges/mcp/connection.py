"""A connection to a server: transport, protocol negotiation, requests, and error messages."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from nexus_tools import __version__
from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.mcp.declaration import ServerDeclaration, StdioServer
from nexus_tools.bridges.mcp.http import http_link
from nexus_tools.bridges.mcp.link import LOCAL_ERROR_CODE, CallFailedError, Link
from nexus_tools.bridges.mcp.listing import ListedTool, Listing
from nexus_tools.bridges.mcp.response_filter import FilteringDispatcher
from nexus_tools.bridges.mcp.stdio import stdio_link
from nexus_tools.errors import ValidationError as InvalidJsonError

# The time to wait for the reason after a connection has ended.
_REASON_S = 3.0

# The SDK's message if the server has forgotten a session that started with `initialize`.
_SESSION_GONE = "Session terminated"
# The SDK's message if the connection has ended.
_CONNECTION_GONE = "Connection closed"


@asynccontextmanager
async def explained(link: Link, seconds: float) -> AsyncIterator[None]:
    """Limit the time of a request, and raise failures as `CallFailedError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise CallFailedError.late(seconds) from error
    except MCPError as error:
        raise await _call_error(error, link) from error
    except ValidationError as error:
        problem = f"the server's response violates the protocol: {_describe_mismatch(error)}"
        raise CallFailedError(problem) from error


@asynccontextmanager
async def task_group_errors() -> AsyncIterator[None]:
    """Raise the failures of task groups, which are exception groups, as `CallFailedError`."""
    try:
        yield
    except Exception as error:
        leaf = _leaf(error)
        if isinstance(leaf, CallFailedError):
            raise leaf from error
        if isinstance(leaf, httpx2.HTTPStatusError):  # the exception's text may contain secrets
            problem = f"the server responds with HTTP status {leaf.response.status_code}"
            raise CallFailedError(problem) from None
        if isinstance(leaf, OSError | httpx2.HTTPError | httpx2.InvalidURL):
            raise CallFailedError(f"cannot reach the server: {leaf}") from error
        raise


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_connection_closed(error: MCPError) -> bool:
    """Return whether the connection has ended.

    Servers also use this error code for other errors.
    """
    return error.code == types.CONNECTION_CLOSED and error.message == _CONNECTION_GONE


async def _call_error(error: MCPError, link: Link) -> CallFailedError:
    if is_connection_closed(error):
        with suppress(TimeoutError):
            async with asyncio.timeout(_REASON_S):
                await link.closed.wait()
        return CallFailedError.ended(link)
    if error.code == LOCAL_ERROR_CODE:
        return CallFailedError(error.message)
    if error.message == _SESSION_GONE:
        link.close("the server no longer knows the session")
    return CallFailedError(f"the server rejected the request: {error.message}", code=error.code)


def _describe_mismatch(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'/'.join(map(str, item['loc']))}: {item['msg']}" for item in problems)


# --- Requests


MAX_PAGES = 100
MAX_TOOLS = 1_000

LISTING_S = 30.0


class _RawResult(RootModel[dict[str, Any]]):
    """A raw result, because the SDK's result models would drop or reorder fields."""


class Connection:
    """A connection for requests to one server. `changed` is set when its tools change."""

    def __init__(
        self,
        session: ClientSession,
        dispatcher: FilteringDispatcher,
        link: Link,
        changed: asyncio.Event,
    ) -> None:
        self.link = link
        self.changed = changed
        self._session = session
        self._dispatcher = dispatcher

    @property
    def is_modern(self) -> bool:
        """Whether the protocol version does not require a handshake."""
        return self._session.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def announces_changes(self) -> bool:
        """Whether the server sends notifications when its tools change."""
        capabilities = self._session.server_capabilities
        return bool(capabilities and capabilities.tools and capabilities.tools.list_changed)

    async def list_tools(self, seconds: float = LISTING_S) -> Listing:
        """Return all pages of `tools/list`.

        Do not call this method concurrently.

        Raises:
            CallFailedError: if the request fails, or if the list is too long.
        """
        self._dispatcher.clear()
        async with explained(self.link, seconds):
            await self._read_pages()
        refused = [*self._dispatcher.refused, *self._uncallable_entries()]
        names = {name for name, _ in refused}
        tools = []
        for entry in self._dispatcher.entries:
            try:
                if entry["name"] not in names:
                    tools.append(ListedTool.parse(entry))
            except InvalidJsonError as error:
                refused.append((entry["name"], error.message))
        return Listing(tuple(tools), tuple(refused))

    async def call(self, name: str, arguments: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the result of `tools/call` as the server sent it.

        Raises:
            CallFailedError: if the call has no result.
        """
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        async with explained(self.link, seconds):
            request = types.CallToolRequest(params=params)
            result = await self._session.send_request(request, _RawResult)
        return result.root

    async def ping(self, seconds: float) -> None:
        """Check that the server responds, even with an error.

        Raises:
            CallFailedError: if it does not respond.
        """
        try:
            async with explained(self.link, seconds):
                await self._session.send_ping()
        except CallFailedError as failed:
            if failed.code is None:
                raise

    async def watch(self) -> None:
        """Subscribe to changes of the tools, and return when the subscription ends."""
        with suppress(SubscriptionLost, MCPError):
            async with listen(self._session, tools_list_changed=True) as subscription:
                async for _ in subscription:
                    self.changed.set()

    async def _read_pages(self) -> None:
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
            cursor = (await self._session.list_tools(params=params)).next_cursor
            if len(self._dispatcher.entries) > MAX_TOOLS:
                raise CallFailedError(f"the server lists more than {MAX_TOOLS} tools")
            if cursor is None:
                return
        raise CallFailedError(f"the server's list of tools has more than {MAX_PAGES} pages")

    def _uncallable_entries(self) -> Iterator[tuple[str, str]]:
        """Yield the names of valid entries that cannot be called, with reasons."""
        entries = self._dispatcher.entries
        uses = Counter(entry["name"] for entry in entries)
        for name, count in uses.items():
            if count > 1:
                yield name, "the server lists this name more than once"
        for entry in entries:
            # Clients must drop entries with an invalid x-mcp-header (MCP 2026-07-28, streamable
            # HTTP, custom headers).
            problem = find_invalid_x_mcp_header(entry["inputSchema"]) if self.is_modern else None
            if problem:
                yield entry["name"], f"x-mcp-header: {problem}"
            # See MCP 2025-11-25, tasks, tool-level negotiation.
            if (entry.get("execution") or {}).get("taskSupport") == "required":
                yield entry["name"], "the tool can only be called as a task, which is not supported"


# --- Connection setup


ProtocolGeneration = Literal["auto", "legacy"]
"""`legacy` starts with `initialize`. `auto` tries 2026-07-28 and falls back to `initialize`."""

# The start may include a download of the server, for example with npx and uvx.
START_S = 60.0


@asynccontextmanager
async def connected(
    server: ServerDeclaration,
    host: BridgeHost,
    generation: ProtocolGeneration = "auto",
    *,
    log_as: str | None = None,
) -> AsyncIterator[Connection]:
    """Connect to the server. A server that is a program is started, and stopped at the end.

    The stderr of a program goes to the log under the name `log_as`, or is discarded.

    Raises:
        CallFailedError: if the server cannot be reached or supports no common protocol version.
    """
    async with task_group_errors(), _link(server, host, log_as) as link:
        changed = asyncio.Event()

        async def handle_message(message: object) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                changed.set()

        dispatcher = FilteringDispatcher(JSONRPCDispatcher(link.read, link.write))
        client = types.Implementation(name="nexus-tools", version=__version__)
        async with ClientSession(
            dispatcher=dispatcher, message_handler=handle_message, client_info=client
        ) as session:
            async with explained(link, START_S):
                await _negotiate(session, generation)
            dispatcher.version = session.protocol_version or ""
            connection = Connection(session, dispatcher, link, changed)
            async with anyio.create_task_group() as tasks:
                if connection.is_modern and connection.announces_changes:
                    tasks.start_soon(connection.watch)
                try:
                    yield connection
                finally:
                    link.close("the connection to the server was closed")
                    tasks.cancel_scope.cancel()


def _link(
    server: ServerDeclaration, host: BridgeHost, log_as: str | None
) -> AbstractAsyncContextManager[Link]:
    if isinstance(server, StdioServer):
        return stdio_link(log_as, server, host)
    return http_link(server, host.limits.output_bytes)


async def _negotiate(session: ClientSession, generation: ProtocolGeneration) -> None:
    if generation == "auto":
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValidationError) as error:
            if isinstance(error, MCPError) and is_connection_closed(error):
                raise
        else:
            return
    try:
        await session.initialize()
    except MCPError as error:
        # A server that starts slowly may handle the abandoned `discover` request as the first
        # message.
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION or generation == "legacy":
            raise
        await session.discover()
    except RuntimeError as error:
        raise CallFailedError(str(error)) from error
