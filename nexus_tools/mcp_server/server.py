"""Nexus tools for MCP clients: `tools/list` and `tools/call` over a catalogue.

Both generations of the protocol are spoken, by the SDK: those that begin with `initialize`
(2024-11-05 to 2025-11-25) and that of 2026-07-28.
"""

import asyncio
import base64
import binascii
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.export import Lendable
from nexus_tools.http.embedded_server import embedded, listening_socket, url_of
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, ToolNames, check_arguments
from nexus_tools.mcp_server.catalogue.untrusted import leaves_out
from nexus_tools.mcp_server.origins import UNKNOWN, Origins, all_own
from nexus_tools.mcp_server.presentation import Annotate, Presentation, declared
from nexus_tools.mcp_server.progress import progress_to
from nexus_tools.mcp_server.results import call_result, error_result
from nexus_tools.mcp_server.search_tools import SearchDesk
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.logs import get_logger

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

Mode = Literal["list", "search"]
Context = ServerRequestContext[Any, Any]

_Params = TypeVar("_Params")
_Result = TypeVar("_Result")

_log = get_logger("nexus_tools.mcp_server.server")

DEFAULT_PAGE_SIZE = 200
"""Not few: there are clients that read the first page and no other."""
HTTP_PATH = "/mcp"

_GRACE_S = 5


def mcp_server(
    catalogue: Catalogue,
    *,
    name: str,
    version: str,
    instructions: str | None = None,
    page_size: int = DEFAULT_PAGE_SIZE,
    mode: Mode = "list",
    domain: str | None = None,
    annotate: Annotate = declared,
    is_paid: bool = False,
    origins: Origins = all_own,
) -> Server[Any]:
    """An MCP server of all tools of a catalogue, for `serve_stdio`, `http_app` or a `Client`.

    In the mode `list` each tool is one of MCP, and `page_size` is how many a `tools/list` answers
    at most; in the mode `search` there are three, which find, describe and call the others. Tools
    that are all in `domain` have names without it. `annotate` says what is known of a tool, which
    is what its author says. Where calls are paid by whoever makes them, tools tell what they cost.
    `origins` tells who wrote the tools: without it, all are the program's own. Text of other
    authors is marked as such, and their hints are left out unless their domain is proved.
    """
    presentation = Presentation(domain, annotate, is_paid, origins)
    desk = (
        SearchDesk(catalogue, presentation)
        if mode == "search"
        else _Desk(catalogue, page_size, presentation)
    )
    return Server(
        name,
        version=version,
        instructions=instructions,
        on_list_tools=_guarded(desk.list_tools),
        on_call_tool=_guarded(desk.call_tool),
        # No argument of ours is repeated in a header, so there is nothing to compare.
        get_tool_input_schema=lambda _: None,
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over stdin and stdout until it closes them; logs belong on stderr."""
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def http_app(
    server: Server[Any],
    *,
    path: str = HTTP_PATH,
    allowed_hosts: tuple[str, ...] = (),
    allowed_origins: tuple[str, ...] = (),
) -> "Starlette":
    """An ASGI application that serves at `path` by streamable HTTP, without sessions.

    Requests of web pages are refused as `AllowedSources` says. A host is `name` or `name:port`.
    """
    app = server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        # The SDK has a check of its own, with fixed names and no word on how to allow others.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    sources = AllowedSources.of(allowed_hosts, allowed_origins)
    app.add_middleware(SourceCheck, sources=sources)
    return app


async def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    *,
    allowed_hosts: tuple[str, ...],
    allowed_origins: tuple[str, ...] = (),
    on_ready: Callable[[str], None],
) -> None:
    """Serve until it is cancelled; `on_ready` gets the URL. Port 0 takes a free one.

    `allowed_hosts` are names by which clients reach it besides its address, `allowed_origins` those
    of web pages that may use it. Raises `address_unusable`.
    """
    listener = listening_socket(host, port)
    url = url_of(listener)
    app = http_app(server, allowed_hosts=allowed_hosts, allowed_origins=allowed_origins)
    async with embedded(app, listener, lifespan="on", timeout_graceful_shutdown=_GRACE_S):
        on_ready(url + HTTP_PATH)
        await asyncio.Event().wait()


class _Desk:
    """Answers the two requests; it holds nothing of a client, so all clients share it."""

    def __init__(self, catalogue: Catalogue, page_size: int, presentation: Presentation) -> None:
        self._catalogue = catalogue
        self._page_size = page_size
        self._presentation = presentation
        self._names = ToolNames(catalogue, presentation.name, page_size=page_size)

    async def list_tools(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """One page; a cursor that was not given out is a wrong parameter."""
        try:
            cursor = None if params is None else _plain_cursor(params.cursor)
            page = await self._catalogue.page(cursor, self._page_size)
        except NexusError as error:
            wrong = error.code == "cursor_invalid"
            code = types.INVALID_PARAMS if wrong else types.INTERNAL_ERROR
            raise MCPError(code, str(error), data={"code": error.code}) from error
        self._names.give(page.definitions)
        origins = await self._presentation.origins(page.definitions)
        tools = []
        for each in page.definitions:
            price_mist, origin = page.prices_mist.get(each.fqn), origins.get(each.fqn, UNKNOWN)
            with leaves_out(each.fqn):
                tools.append(self._presentation.document(each, price_mist, origin))
        return types.ListToolsResult(tools=tools, next_cursor=_opaque_cursor(page.next_cursor))

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """The outcome of one call; only a name that nobody has is an error of the protocol."""
        try:
            definition = await self._definition(params.name)
            ports = params.arguments or {}
            check_arguments(definition, ports)
            outcome = await self._catalogue.call(definition, ports, progress_to(context))
        except NexusError as error:
            return error_result(error)
        return call_result(outcome)

    async def _definition(self, name: str) -> Lendable:
        fqn = await self._names.find(name)
        definition = None if fqn is None else await self._catalogue.find(fqn)
        if definition is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {name[:200]!r}")
        return definition


def _guarded(handler: Callable[[Context, _Params], Awaitable[_Result]]) -> Any:
    """The handler, whose defects are told to the log alone: their texts may have secrets."""

    async def guarded(context: Context, params: _Params) -> _Result:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the edge to a catalogue
            cause = "".join(traceback.format_exception(error))
            _log.error("server_broke", method=context.method, cause=cause)
            message = "the server broke; its operator finds the cause in the log"
            raise MCPError(types.INTERNAL_ERROR, message) from None

    return guarded


def _opaque_cursor(cursor: str | None) -> str | None:
    return None if cursor is None else base64.urlsafe_b64encode(cursor.encode()).decode()


def _plain_cursor(cursor: str | None) -> str | None:
    """The catalogue's own cursor in what a client sent back."""
    if cursor is None:
        return None
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise ValidationError("cursor_invalid", "the cursor is none of this server") from error


class SourceCheck:
    """ASGI middleware that answers requests of web pages that are not allowed with 403."""

    def __init__(self, app: "ASGIApp", sources: AllowedSources) -> None:
        self._app = app
        self._sources = sources

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            refusal = self._sources.refusal(headers.get("host"), headers.get("origin"))
            if refusal is not None:
                await JSONResponse({"error": refusal}, status_code=403)(scope, receive, send)
                return
        await self._app(scope, receive, send)
