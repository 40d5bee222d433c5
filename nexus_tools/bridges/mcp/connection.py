"""A connection to a server: reached, agreed with on the protocol, asked; failures are explained."""

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
from nexus_tools.bridges.base import Host
from nexus_tools.bridges.mcp.declaration import ServerDeclaration, StdioServer
from nexus_tools.bridges.mcp.http import http_link
from nexus_tools.bridges.mcp.link import RESPONDED_HERE, CallFailedError, Link
from nexus_tools.bridges.mcp.listing import ListedTool, Listing
from nexus_tools.bridges.mcp.response_filter import SiftingDispatcher
from nexus_tools.bridges.mcp.stdio import stdio_link
from nexus_tools.errors import ValidationError as InvalidJsonError

# How long to wait for the reason, once a connection has ended.
_REASON_S = 3.0

# What the SDK says when the server has forgotten a session that began with `initialize`.
_SESSION_GONE = "Session terminated"
# What it says when the connection has ended.
_CONNECTION_GONE = "Connection closed"


@asynccontextmanager
async def explained(link: Link, seconds: float) -> AsyncIterator[None]:
    """Within a time limit; what fails is raised as a `CallFailedError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise CallFailedError.late(seconds) from error
    except MCPError as error:
        raise await _explanation(error, link) from error
    except ValidationError as error:
        problem = f"the protocol does not allow the server's response: {_mismatch_in_words(error)}"
        raise CallFailedError(problem) from error


@asynccontextmanager
async def explained_as_a_whole() -> AsyncIterator[None]:
    """Around task groups, which wrap what is raised in groups of exceptions."""
    try:
        yield
    except Exception as error:
        leaf = _leaf(error)
        if isinstance(leaf, CallFailedError):
            raise leaf from error
        if isinstance(leaf, httpx2.HTTPStatusError):  # its text has the URL, secrets included
            problem = f"the server responds with HTTP status {leaf.response.status_code}"
            raise CallFailedError(problem) from None
        if isinstance(leaf, OSError | httpx2.HTTPError | httpx2.InvalidURL):
            raise CallFailedError(f"the server cannot be reached: {leaf}") from error
        raise


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_end(error: MCPError) -> bool:
    """Whether the connection has ended; servers use the same code for much else."""
    return error.code == types.CONNECTION_CLOSED and error.message == _CONNECTION_GONE


async def _explanation(error: MCPError, link: Link) -> CallFailedError:
    if is_end(error):
        with suppress(TimeoutError):
            async with asyncio.timeout(_REASON_S):
                await link.closed.wait()
        return CallFailedError.ended(link)
    if error.code == RESPONDED_HERE:
        return CallFailedError(error.message)
    if error.message == _SESSION_GONE:
        link.close("the server has forgotten the session")
    return CallFailedError(f"the server refuses: {error.message}", code=error.code)


def _mismatch_in_words(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'/'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)


# --- Asking


MAX_PAGES = 100
MAX_TOOLS = 1_000

LISTING_S = 30.0


class _AsSent(RootModel[dict[str, Any]]):
    """A result with all its fields, which the protocol's own models would order anew."""


class Connection:
    """Requests to one server. `changed` is set when it says that its tools have changed."""

    def __init__(
        self,
        session: ClientSession,
        dispatcher: SiftingDispatcher,
        link: Link,
        changed: asyncio.Event,
    ) -> None:
        self.link = link
        self.changed = changed
        self._session = session
        self._dispatcher = dispatcher

    @property
    def is_modern(self) -> bool:
        """Whether the protocol is of the generation without a handshake."""
        return self._session.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def announces_changes(self) -> bool:
        """Whether the server tells when its tools change."""
        capabilities = self._session.server_capabilities
        return bool(capabilities and capabilities.tools and capabilities.tools.list_changed)

    async def list_tools(self, seconds: float = LISTING_S) -> Listing:
        """All pages of `tools/list`; raises `CallFailedError`, also for a list without end.

        It is not called twice at the same time.
        """
        self._dispatcher.clear()
        async with explained(self.link, seconds):
            await self._read_pages()
        refused = [*self._dispatcher.refused, *self._of_no_use()]
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
        """The result of `tools/call` as it was sent; raises `CallFailedError` if there is none."""
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        async with explained(self.link, seconds):
            request = types.CallToolRequest(params=params)
            result = await self._session.send_request(request, _AsSent)
        return result.root

    async def ping(self, seconds: float) -> None:
        """Have the server say anything at all, a refusal too; raises `CallFailedError` if not."""
        try:
            async with explained(self.link, seconds):
                await self._session.send_ping()
        except CallFailedError as failed:
            if failed.code is None:
                raise

    async def watch(self) -> None:
        """Have the server tell of changes, where it has to be asked to; until it stops."""
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

    def _of_no_use(self) -> Iterator[tuple[str, str]]:
        """Entries that are allowed, and cannot be called as others are."""
        entries = self._dispatcher.entries
        uses = Counter(entry["name"] for entry in entries)
        for name, count in uses.items():
            if count > 1:
                yield name, "the server lists this name more than once"
        for entry in entries:
            # Clients have to drop these: MCP 2026-07-28, streamable HTTP, custom headers.
            problem = find_invalid_x_mcp_header(entry["inputSchema"]) if self.is_modern else None
            if problem:
                yield entry["name"], f"x-mcp-header: {problem}"
            # MCP 2025-11-25, tasks, tool-level negotiation.
            if (entry.get("execution") or {}).get("taskSupport") == "required":
                yield entry["name"], "it can be called as a task only, which is not supported"


# --- Reaching


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
