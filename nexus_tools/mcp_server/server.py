"""The MCP server for Nexus tools: `tools/list` and `tools/call` over a catalogue.

The SDK supports both generations of the protocol: the versions that start with `initialize`
(2024-11-05 to 2025-11-25), and 2026-07-28.
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
from nexus_tools.export import Exportable
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, check_arguments
from nexus_tools.mcp_server.catalogue.tool_names import ToolNames
from nexus_tools.mcp_server.catalogue.untrusted import skip_on_error
from nexus_tools.mcp_server.origins import UNKNOWN, OriginLookup, own_origins
from nexus_tools.mcp_server.presentation import Annotate, Presentation, declared
from nexus_tools.mcp_server.progress import progress_to
from nexus_tools.mcp_server.receipt import Receipt
from nexus_tools.mcp_server.results import call_result, error_result, with_receipt
from nexus_tools.mcp_server.search_tools import SearchHandler
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
"""The default page size. The page size is large, because some clients read only the first page."""
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
    origins: OriginLookup = own_origins,
) -> Server[Any]:
    """Return an MCP server for all tools of a catalogue.

    Pass the server to `serve_stdio`, `http_app`, or a `Client`. In the mode `list`, each tool is an
    MCP tool, and `page_size` limits the page of a `tools/list`. In the mode `search`, three MCP
    tools find, describe, and call the tools of the catalogue. If all tools are in `domain`, their
    names omit the domain. `annotate` returns the annotations of a tool, by default the author's. If
    the caller pays for calls (`is_paid`), descriptions include the cost. `origins` returns the
    authors of tools. By default, all tools are the program's own. Text of other authors is marked,
    and their hints are omitted unless their domain is proved.
    """
    presentation = Presentation(domain, annotate, is_paid, origins)
    handler = (
        SearchHandler(catalogue, presentation)
        if mode == "search"
        else _ListHandler(catalogue, page_size, presentation)
    )
    return Server(
        name,
        version=version,
        instructions=instructions,
        on_list_tools=_guarded(handler.list_tools),
        on_call_tool=_guarded(handler.call_tool),
        # No header repeats an argument, so the SDK does not need schemas to compare them.
        get_tool_input_schema=lambda _: None,
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until the client closes them. Log only to stderr."""
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def http_app(
    server: Server[Any],
    *,
    path: str = HTTP_PATH,
    allowed_hosts: tuple[str, ...] = (),
    allowed_origins: tuple[str, ...] = (),
) -> "Starlette":
    """Return an ASGI application that serves streamable HTTP at `path`, without sessions.

    Requests of web pages are refused according to `AllowedSources`. A host is `name` or
    `name:port`.
    """
    app = server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        # The SDK's own check has fixed host names, and its error does not say how to allow others.
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
    """Serve until cancelled. `on_ready` receives the URL. Port 0 selects a free port.

    `allowed_hosts` are further host names of the server. `allowed_origins` are the origins of web
    pages that may use the server.

    Raises:
        NexusError: with code `address_unavailable`.
    """
    listener = listening_socket(host, port)
    url = url_of(listener)
    app = http_app(server, allowed_hosts=allowed_hosts, allowed_origins=allowed_origins)
    async with serve_embedded(app, listener, lifespan="on", timeout_graceful_shutdown=_GRACE_S):
        on_ready(url + HTTP_PATH)
        await asyncio.Event().wait()


class _ListHandler:
    """The request handler of the list mode, which all clients share because it is stateless."""

    def __init__(self, catalogue: Catalogue, page_size: int, presentation: Presentation) -> None:
        self._catalogue = catalogue
        self._page_size = page_size
        self._presentation = presentation
        self._names = ToolNames(catalogue, presentation.name, page_size=page_size)

    async def list_tools(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return one page. A cursor that the server did not issue is an invalid parameter."""
        try:
            cursor = None if params is None else _plain_cursor(params.cursor)
            page = await self._catalogue.page(cursor, self._page_size)
        except NexusError as error:
            is_invalid_cursor = error.code == "cursor_invalid"
            code = types.INVALID_PARAMS if is_invalid_cursor else types.INTERNAL_ERROR
            raise MCPError(code, str(error), data={"code": error.code}) from error
        self._names.assign(page.definitions)
        origins = await self._presentation.origins(page.definitions)
        tools = []
        for tool in page.definitions:
            price_mist, origin = page.prices_mist.get(tool.fqn), origins.get(tool.fqn, UNKNOWN)
            with skip_on_error(tool.fqn):
                tools.append(self._presentation.document(tool, price_mist, origin))
        return types.ListToolsResult(tools=tools, next_cursor=_opaque_cursor(page.next_cursor))

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Return the outcome of one call. Only an unknown name is a protocol error."""
        receipt = Receipt.start()
        try:
            definition = await self._definition(params.name)
            ports = params.arguments or {}
            check_arguments(definition, ports)
            outcome = await self._catalogue.call(definition, ports, progress_to(context))
            result = call_result(outcome)
        except NexusError as error:
            result = error_result(error)
        return with_receipt(result, receipt)

    async def _definition(self, name: str) -> Exportable:
        fqn = await self._names.find(name)
        definition = None if fqn is None else await self._catalogue.find(fqn)
        if definition is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {name[:200]!r}")
        return definition


def _guarded(handler: Callable[[Context, _Params], Awaitable[_Result]]) -> Any:
    """Wrap a handler to log unexpected errors and hide their texts, which may be secret."""

    async def guarded(context: Context, params: _Params) -> _Result:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - a catalogue may raise anything
            cause = "".join(traceback.format_exception(error))
            _log.error("server_broke", method=context.method, cause=cause)
            message = "internal server error. The server's log contains the cause"
            raise MCPError(types.INTERNAL_ERROR, message) from None

    return guarded


def _opaque_cursor(cursor: str | None) -> str | None:
    return None if cursor is None else base64.urlsafe_b64encode(cursor.encode()).decode()


def _plain_cursor(cursor: str | None) -> str | None:
    """Return the catalogue's own cursor from a client's cursor."""
    if cursor is None:
        return None
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise ValidationError(
            "cursor_invalid", "the cursor was not issued by this server"
        ) from error


class SourceCheck:
    """ASGI middleware that rejects requests from disallowed web pages with the status 403."""

    def __init__(self, app: "ASGIApp", sources: AllowedSources) -> None:
        self._app = app
        self._sources = sources

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Forward a request, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            refusal = self._sources.refusal(headers.get("host"), headers.get("origin"))
            if refusal is not None:
                await JSONResponse({"error": refusal}, status_code=403)(scope, receive, send)
                return
        await self._app(scope, receive, send)
