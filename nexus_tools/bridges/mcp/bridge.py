"""The discovery of the tools of all servers that an `mcp.json` declares."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nexus_tools.bridges.base import BridgeHost, Discovery, RejectedTool
from nexus_tools.bridges.mcp.declaration import (
    ServerDeclaration,
    StdioServer,
    parse_server,
    read_servers,
)
from nexus_tools.bridges.mcp.link import CallFailedError
from nexus_tools.bridges.mcp.listing import Fingerprint, Listing
from nexus_tools.bridges.mcp.pins import Pins
from nexus_tools.bridges.mcp.supervisor import ReconnectPolicy, Service
from nexus_tools.bridges.mcp.tool import McpTool
from nexus_tools.bridges.naming import Naming
from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Tool

if TYPE_CHECKING:
    from nexus_tools.bridges.mcp.connection import ProtocolGeneration

SYSTEM = "mcp"

_NAMES = ("mcp.json", ".mcp.json")
_ENDING = ".mcp.json"
_DOWNLOAD_HINT = (
    "The command downloads the server, but has no network access. Install the server and use its"
    " program as the command, or open the port with --allow-port 443."
)


class McpBridge:
    """The bridge to MCP servers, both programs and URLs.

    With `pins`, a tool that has changed since it was first seen is refused. With `accept_changes`,
    the tool is pinned again instead. Set `generation` to `legacy` for servers that fail on requests
    of the newest protocol. With `per_call`, each call has its own server process, for servers that
    store state of their callers. The bridge requires the extra `nexus-tools[mcp]`.
    """

    system = SYSTEM

    def __init__(
        self,
        pins: Pins | None = None,
        *,
        accept_changes: bool = False,
        generation: "ProtocolGeneration" = "auto",
        reconnect_policy: ReconnectPolicy | None = None,
        per_call: bool = False,
    ) -> None:
        self._pins = pins
        self._accept_changes = accept_changes
        self._generation: ProtocolGeneration = generation
        self._reconnect_policy = reconnect_policy
        self._per_call = per_call

    def recognises(self, place: Path) -> bool:
        """Return whether the path is an `mcp.json` with `mcpServers`, or a folder with one."""
        return any(map(_declares_servers, _files(place)))

    async def discover(self, place: Path, host: BridgeHost, naming: Naming) -> Discovery:
        """Connect to each server, and return the tools of all servers.

        Raises:
            UsageError: with code `mcp_not_installed` if the extra is not installed.
            ValidationError: with code `mcp_json_invalid` if the file cannot be read.
        """
        if find_spec("mcp") is None:
            message = "the MCP library is not installed"
            raise UsageError(
                "mcp_not_installed", message, hint="Run `pip install 'nexus-tools[mcp]'`."
            )
        servers = [
            (file, name, document)
            for file in _files(place)
            for name, document in read_servers(file).items()
        ]
        discoveries = await asyncio.gather(
            *[self._discover(*server, host, naming) for server in servers]
        )
        return Discovery.merge(discoveries)

    async def _discover(
        self, file: Path, name: str, document: Any, host: BridgeHost, naming: Naming
    ) -> Discovery:
        source = f"{file}#{name}"
        try:
            server = parse_server(document, host.shared_environment, file.parent.resolve())
            listing = await self._listed(server, host)
        except CallFailedError as failed:
            hint = _DOWNLOAD_HINT if _lacks_network(server, host) else ""
            reason = server.redaction.text(_reason(failed))
            return Discovery(rejected=(RejectedTool(SYSTEM, source, reason, hint),))
        except NexusError as error:
            return Discovery(rejected=(RejectedTool.of(SYSTEM, source, error),))
        service = Service(
            name,
            server,
            host,
            listing.fingerprints(),
            generation=self._generation,
            reconnect_policy=self._reconnect_policy,
            is_per_call=self._per_call,
        )
        return self._of_listing(source, listing, service, naming)

    async def _listed(self, server: ServerDeclaration, host: BridgeHost) -> Listing:
        from nexus_tools.bridges.mcp.connection import connected  # noqa: PLC0415 - an extra

        async with connected(server, host, self._generation) as connection:
            return await connection.list_tools()

    def _of_listing(
        self, source: str, listing: Listing, service: Service, naming: Naming
    ) -> Discovery:
        changed = self._changed(source, listing.fingerprints())
        tools: list[McpTool] = []

        def known(tool: str) -> ToolFqn | None:
            return naming.known_fqn(SYSTEM, service.name, tool)

        refused = [
            RejectedTool(SYSTEM, f"{source}/{tool}", reason, fqn=known(tool))
            for tool, reason in listing.refused
        ]
        for listed in listing.tools:
            place = f"{source}/{listed.name}"
            if listed.name in changed:
                refusal = _refusal_of_change(place, changed[listed.name])
                refused.append(replace(refusal, fqn=known(listed.name)))
                continue
            try:
                fqn = naming.fqn(SYSTEM, service.name, listed.name)
                tool = McpTool(fqn, listed, service, place)
                tools.append(tool.called(service.name, listed.name))
            except NexusError as error:
                refused.append(RejectedTool.of(SYSTEM, place, error, known(listed.name)))
        return Discovery(
            tuple(tools), tuple(refused), (partial(_serving, service),) if tools else ()
        )

    def _changed(
        self, source: str, tools: Mapping[str, Fingerprint]
    ) -> Mapping[str, tuple[str, ...]]:
        if self._pins is None:
            return {}
        if self._accept_changes:
            self._pins.accept(source, tools)
        return self._pins.check(source, tools)


@asynccontextmanager
async def _serving(service: Service, tools: Collection[Tool]) -> AsyncIterator[None]:
    """Keep the server running while any of its tools is served."""
    if any(isinstance(tool, McpTool) and tool.service is service for tool in tools):
        async with service.running():
            yield
    else:
        yield


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place] if place.name in _NAMES or place.name.endswith(_ENDING) else []
    if not place.is_dir():
        return []
    candidates = [place / name for name in _NAMES]
    return [
        file
        for file in dict.fromkeys([*candidates, *sorted(place.glob(f"*{_ENDING}"))])
        if file.is_file()
    ]


def _declares_servers(file: Path) -> bool:
    try:
        return bool(read_servers(file))
    except ValidationError:
        return False


def _reason(failed: CallFailedError) -> str:
    """Return the reason of a refusal with the server's output, without the stack of Node errors."""
    lines = [line for line in failed.log.splitlines() if not line.startswith("    at ")]
    output = "\n".join(lines)[-500:]
    return f"{failed.reason}. Output: {output}" if output else failed.reason


def _lacks_network(server: ServerDeclaration, host: BridgeHost) -> bool:
    return isinstance(server, StdioServer) and server.lacks_network(host)


def _refusal_of_change(place: str, changes: tuple[str, ...]) -> RejectedTool:
    return RejectedTool(
        SYSTEM,
        place,
        f"the tool has changed since it was first seen: {', '.join(changes)}",
        "Review the tool, and accept its current definition with --accept-changes.",
    )
