"""The ASGI application of the API."""

import asyncio
import time
from base64 import b32encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus_tools.errors import NexusError
from nexus_tools.index.api.documents import FeedEvent, encode
from nexus_tools.index.api.feed import Feed, Position
from nexus_tools.index.api.limits import ApiLimits, StreamSlots, TokenBuckets, client_key
from nexus_tools.index.api.mcp_registry import McpServer, registry_operations
from nexus_tools.index.api.openapi_document import EVENTS_PATH, openapi
from nexus_tools.index.api.operations import OPERATIONS, Operation, Query
from nexus_tools.index.api.parameters import EventsParameters, parse_parameters
from nexus_tools.index.api.problems import ProblemError, internal_error, problem_of
from nexus_tools.index.api.snapshots import snapshot_routes
from nexus_tools.index.api.source import IndexSource
from nexus_tools.index.totals import HOUR_MS
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import protocol

Endpoint = Callable[[Request], Awaitable[Response]]

_log = get_logger("nexus_tools.index")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_SHARED_HEADERS = _HEADERS | {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
}
_EVENT_STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_LIVE = {"Cache-Control": "no-store"}
_JSON = protocol.JSON
_MIN_GZIP_BYTES = 1_000
_GZIP_LEVEL = 5
_RECONNECT_MS = 3_000
_BATCH_PAUSE_S = 0.1


class IndexApi:
    """An ASGI application that serves an index.

    `mcp_server` is the entry of the MCP registry, or None. `snapshots` is the folder of a snapshot
    that clients may download, or None. With `hosts`, requests with other host
    names are refused: a loopback server needs this against DNS rebinding. Web pages of any origin
    may read the responses. If `is_shared` is False, only pages of the origins in `hosts` may, and
    pages of loopback origins. Call `close` before the server stops, because streams do not end by
    themselves.
    """

    def __init__(
        self,
        source: IndexSource,
        *,
        limits: ApiLimits | None = None,
        mcp_server: McpServer | None = None,
        snapshots: Path | None = None,
        hosts: AllowedSources | None = None,
        is_shared: bool = True,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_shared = is_shared
        self._source = source
        self._feed = Feed(source)
        self._limits = limits = limits or ApiLimits()
        self._hosts = hosts
        self._buckets = TokenBuckets(limits.requests_per_s, limits.burst, limits.clients, clock_s)
        self._slots = StreamSlots(limits.streams, limits.streams_per_client)
        self._closed = asyncio.Event()
        self._openapi = encode(openapi())
        operations = (*OPERATIONS, *registry_operations(mcp_server))
        self._app = Starlette(
            routes=[
                Route("/openapi.json", self._show_openapi),
                Route(EVENTS_PATH, self._stream),
                *(_route(operation, self._endpoint(operation)) for operation in operations),
                *snapshot_routes(snapshots),
            ],
            middleware=[
                Middleware(GZipMiddleware, minimum_size=_MIN_GZIP_BYTES, compresslevel=_GZIP_LEVEL)
            ],
            exception_handlers={
                HTTPException: _http_problem,
                ProblemError: _problem,
                NexusError: _nexus_problem,
                Exception: _unexpected,
            },
        )
        self._app.router.redirect_slashes = False

    @property
    def open_streams(self) -> int:
        """The number of open streams."""
        return len(self._slots)

    def close(self) -> None:
        """End the streams."""
        self._closed.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, within the limits of its client."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers = Headers(scope=scope)
        page_headers = self._page_headers(headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sent.update(page_headers)
                if not self._is_shared:
                    sent.add_vary_header("Origin")
            await send(message)

        app: ASGIApp = self._app
        try:
            self._check_host(headers)
            self._buckets.take(_client(scope))
        except ProblemError as error:
            app = error.response()
        else:
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                app = Response(None, HTTPStatus.NO_CONTENT, _PREFLIGHT)
        await app(scope, receive, send_with_headers)

    def _page_headers(self, headers: Headers) -> Mapping[str, str]:
        """Return the headers that let web pages read a response, or forbid it."""
        if self._is_shared:
            return _SHARED_HEADERS
        host, origin = headers.get("host"), headers.get("origin")
        if origin is None or self._hosts is None or self._hosts.refusal(host, origin):
            return _HEADERS
        return _SHARED_HEADERS | {"Access-Control-Allow-Origin": origin}

    def _check_host(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        if self._hosts is not None and not self._hosts.allows_host(host):
            raise ProblemError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "host_not_allowed",
                "this server does not accept this host name",
                hint="Use its loopback address, or start it with --allow-host NAME.",
            )

    # --- Documents

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def respond(request: Request) -> Response:
            parameters = parse_parameters(request, operation.parameters)
            state = self._source.state()
            query = Query(self._source, state)
            if request.query_params.get("q"):
                # The text index follows later, and its state is not known here.
                return Response(
                    encode(operation.run(query, parameters)), headers=_LIVE, media_type=_JSON
                )
            if operation.reads_search:
                body = encode(operation.run(query, parameters))
                etag = _etag(request, body)
                return _not_modified(request, etag) or _json(body, etag)
            etag = _etag(request, state.version, int(time.time() * 1000) // HOUR_MS)
            return _not_modified(request, etag) or _json(
                encode(operation.run(query, parameters)), etag
            )

        return respond

    async def _show_openapi(self, request: Request) -> Response:
        etag = _etag(request, self._openapi)
        return _not_modified(request, etag) or _json(self._openapi, etag)

    # --- Events

    async def _stream(self, request: Request) -> Response:
        since = parse_parameters(request, EventsParameters).since
        position = self._feed.position(request.headers.get("last-event-id") or since)
        if request.method == "HEAD":
            return Response(None, headers=_EVENT_STREAM, media_type="text/event-stream")
        return _EventStream(self._events(position), self._slots)

    async def _events(self, position: Position) -> AsyncIterator[bytes]:
        """Yield the events. A client that does not read them blocks only its own stream."""
        limits = self._limits
        # A client that receives no event resumes here, too.
        yield f"id: {position.event_id}\nretry: {_RECONNECT_MS}\n\n".encode()
        silent_s = 0.0
        while not self._closed.is_set():
            try:
                batch = self._feed.read(position)
            except NexusError:
                return  # the index is gone, and clients connect again
            if batch:
                silent_s = 0.0
                yield b"".join(_frame(event_id, event) for event_id, event in batch)
            if batch is not None:
                # Other requests come first, even if many clients read the whole history.
                await self._pause(_BATCH_PAUSE_S)
                continue
            await self._pause(limits.poll_s)
            silent_s += limits.poll_s
            if silent_s >= limits.heartbeat_s:
                silent_s = 0.0
                yield b": heartbeat\n\n"

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()


class _EventStream(StreamingResponse):
    """A stream of events, which holds a slot until the client disconnects."""

    def __init__(self, events: AsyncIterator[bytes], slots: StreamSlots) -> None:
        super().__init__(events, headers=_EVENT_STREAM, media_type="text/event-stream")
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events. Raises the problem `streams_exhausted` before it starts."""
        with self._slots.slot(_client(scope)):
            await super().__call__(scope, receive, send)


def _frame(event_id: str, event: FeedEvent) -> bytes:
    name = str(event.__struct_config__.tag)
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event_id.encode(), name.encode(), encode(event))


# --- Requests and responses


def _route(operation: Operation, endpoint: Endpoint) -> Route:
    """Return the route of an operation. The name of an MCP server contains a slash."""
    path = operation.path.replace("/servers/{name}", "/servers/{name:path}")
    return Route(path, endpoint, methods=["GET"])


def _client(scope: Scope) -> str:
    host, _ = scope.get("client") or ("", 0)
    return client_key(host)


def _etag(request: Request, *values: bytes | int) -> str:
    """Return a weak entity tag, because compression changes the bytes."""
    parts = (request.url.path, request.url.query, *values)
    digest = blake2b(repr(parts).encode(), digest_size=15).digest()
    return f'W/"{b32encode(digest).decode().lower()}"'


def _not_modified(request: Request, etag: str) -> Response | None:
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if not {etag, etag.removeprefix("W/")}.intersection(known):
        return None
    return Response(None, HTTPStatus.NOT_MODIFIED, _cache_headers(etag))


def _json(body: bytes, etag: str) -> Response:
    return Response(body, headers=_cache_headers(etag), media_type=_JSON)


def _cache_headers(etag: str) -> Mapping[str, str]:
    """Return headers with which caches ask for a change each time."""
    return {"ETag": etag, "Cache-Control": "no-cache"}


# --- Problems


def _http_problem(_: Request, error: Exception) -> Response:
    """Return the problem for a router error: an unknown path or a wrong method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    hint = "GET /openapi.json describes the API."
    headers = dict(error.headers or {})
    return ProblemError(
        status, status.name.lower(), error.detail, hint=hint, headers=headers
    ).response()


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return error.response()


def _nexus_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, NexusError)
    _log.warning("index_unavailable", code=error.code, cause=error.message)
    return problem_of(error).response()


def _unexpected(_: Request, __: Exception) -> Response:
    return internal_error().response()
