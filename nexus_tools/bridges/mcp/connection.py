"""A conversation with a server, once the protocol is agreed on: its tools listed, and called."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel

from nexus_tools.bridges.mcp.call_failed import CallFailedError
from nexus_tools.bridges.mcp.explaining import explained
from nexus_tools.bridges.mcp.link import Link
from nexus_tools.bridges.mcp.listing import ListedTool, Listing
from nexus_tools.bridges.mcp.sifting import SiftingDispatcher
from nexus_tools.errors import ValidationError as InvalidJsonError

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
