"""The read endpoints of the MCP registry API, for the operator's own MCP server.

Source: the generic registry API of `modelcontextprotocol/registry`, version 2025-12-01.

A registered tool is not an MCP server, because it has the HTTP protocol of `nexus_tools.tool`. MCP
clients call registered tools through `nexus-tools mcp serve`. So the registry lists at most one
server: the one whose URL the operator of this API sets.
"""

from collections.abc import Iterable
from http import HTTPStatus
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from nexus_tools import __version__
from nexus_tools.errors import UsageError
from nexus_tools.index.api import parameters as p
from nexus_tools.index.api.operations import Operation, Query
from nexus_tools.index.api.problems import ProblemError

SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_OFFICIAL = "io.modelcontextprotocol.registry/official"
_LATEST = "latest"


class Remote(msgspec.Struct, frozen=True):
    """The endpoint of an MCP server."""

    type: Literal["streamable-http"]
    url: str


class ServerJson(msgspec.Struct, frozen=True):
    """A `server.json`."""

    schema: str = msgspec.field(name="$schema")
    name: str
    title: str
    description: str
    version: str
    remotes: tuple[Remote, ...]


class ServerState(msgspec.Struct, frozen=True):
    """The state of a server in the registry."""

    status: Literal["active"]
    is_latest: bool = msgspec.field(name="isLatest")


class ServerMeta(msgspec.Struct, frozen=True):
    """The metadata of a registry about a server."""

    official: ServerState = msgspec.field(name=_OFFICIAL)


class ServerResponse(msgspec.Struct, frozen=True):
    """A server and its metadata."""

    server: ServerJson
    meta: ServerMeta = msgspec.field(name="_meta")


class ListMetadata(msgspec.Struct, frozen=True):
    """The metadata of a list. It has no cursor, because the list has one page."""

    count: int


class ServerList(msgspec.Struct, frozen=True):
    """A list of servers."""

    servers: tuple[ServerResponse, ...]
    metadata: ListMetadata


class McpServer(msgspec.Struct, frozen=True):
    """The operator's MCP server."""

    url: str
    name: str

    @classmethod
    def at(cls, url: str) -> "McpServer":
        """Return the server at a URL, whose name is the reversed host. Raises `mcp_url_invalid`."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname or "", parts.port
        except ValueError as error:
            raise _url_invalid(url) from error
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise _url_invalid(url)
        name = f"{_reversed(host)}/nexus-tools"
        if ":" in name or not name.isascii() or len(name) > 200:
            raise _url_invalid(url)
        return cls(url, name)

    def response(self) -> ServerResponse:
        """Return the entry of the registry."""
        server = ServerJson(
            SERVER_SCHEMA,
            self.name,
            "Nexus tools",
            "Search and call the tools of a registry on Sui.",
            __version__,
            (Remote("streamable-http", self.url),),
        )
        return ServerResponse(server, ServerMeta(ServerState("active", is_latest=True)))


def registry_operations(server: McpServer | None) -> tuple[Operation, ...]:
    """Return the operations of the MCP registry. Without a server, the list is empty."""
    entries = () if server is None else (server.response(),)

    def list_servers(_: Query, parameters: p.ServersParameters) -> ServerList:
        wanted = (parameters.search or "").lower()
        return _list(
            entry
            for entry in entries
            if wanted in entry.server.name.lower()
            and parameters.version in (None, _LATEST, entry.server.version)
        )

    def list_versions(_: Query, parameters: p.ServerVersionsParameters) -> ServerList:
        return _list([_entry(parameters.name, _LATEST)])

    def get_version(_: Query, parameters: p.ServerVersionParameters) -> ServerResponse:
        return _entry(parameters.name, parameters.version)

    def _entry(name: str, version: str) -> ServerResponse:
        for entry in entries:
            if name == entry.server.name and version in (_LATEST, entry.server.version):
                return entry
        hint = "GET /v0.1/servers lists the servers."
        detail = f"the MCP server {name!r} with the version {version!r} does not exist"
        raise ProblemError(HTTPStatus.NOT_FOUND, "not_found", detail, hint=hint)

    return (
        Operation(
            "/v0.1/servers",
            "listServers",
            "List MCP servers, as the MCP registry does",
            p.ServersParameters,
            ServerList,
            list_servers,
        ),
        Operation(
            "/v0.1/servers/{name}/versions",
            "listServerVersions",
            "List versions of a server",
            p.ServerVersionsParameters,
            ServerList,
            list_versions,
        ),
        Operation(
            "/v0.1/servers/{name}/versions/{version}",
            "getServerVersion",
            "Get a version of a server",
            p.ServerVersionParameters,
            ServerResponse,
            get_version,
        ),
    )


def _list(entries: Iterable[ServerResponse]) -> ServerList:
    servers = tuple(entries)
    return ServerList(servers, ListMetadata(len(servers)))


def _reversed(host: str) -> str:
    """Return the reversed labels of a domain, or an IP address as it is."""
    try:
        return str(ip_address(host))
    except ValueError:
        return ".".join(reversed(host.rstrip(".").split(".")))


def _url_invalid(url: str) -> UsageError:
    return UsageError(
        "mcp_url_invalid",
        f"{url[:200]!r} is not the URL of an MCP server",
        hint="Pass the URL that `nexus-tools mcp serve` prints, with a domain or an IPv4 address.",
    )
