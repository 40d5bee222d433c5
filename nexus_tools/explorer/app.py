"""The ASGI application of the explorer."""

import sqlite3
import time
from base64 import b32encode
from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

from cachetools import LRUCache
from msgspec import Struct
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.explorer.chain import ChainReader
from nexus_tools.explorer.context import Page, PageContext, PageError, PageRedirect, PageRoute
from nexus_tools.explorer.pages import NAVIGATION, ROUTES
from nexus_tools.explorer.rendering import render, serve_static, static_url
from nexus_tools.index.api import (
    ApiLimits,
    IndexApi,
    IndexSource,
    ProblemError,
    TokenBuckets,
    client_key,
)
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.logs import error_summary, get_logger

_log = get_logger("nexus_tools.explorer")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_API_PATHS = ("/openapi.json", "/metadata.json")
_MAX_QUERY = 8_000
"""The maximum length of a query in characters, so that a page stays small."""
_SHARED_PAGES = 64
"""The number of pages that are kept for other readers. A page has at most 100 KB."""
_MIN_GZIP_BYTES = 1_000
_GZIP_LEVEL = 3
_INVALID = ("cursor_invalid", "address_invalid", "fqn_invalid", "amount_invalid")
STARTING = NotFoundError("index_starting", "the explorer is connecting to the network")


class Explorer:
    """An ASGI application that shows an index and its chain as pages, and serves the API.

    `network` is the name of the network. With `hosts`, requests with other host names are refused:
    a loopback server needs this against DNS rebinding. Until `open` is called, and after `suspend`,
    every page explains why the index is missing. With `is_public`, the explanations omit paths and
    commands, which are for the operator. `notice` is a sentence that every page shows, or an empty
    text. Call `close` before the server stops.
    """

    def __init__(
        self,
        network: str,
        *,
        hosts: AllowedSources | None = None,
        limits: ApiLimits | None = None,
        is_public: bool = False,
        clock_ms: Callable[[], int] = lambda: int(time.time() * 1000),
    ) -> None:
        self.notice = ""
        self._network = network
        self._hosts = hosts
        self._limits = limits or ApiLimits()
        self._is_public = is_public
        self._clock_ms = clock_ms
        self._buckets = TokenBuckets(
            self._limits.requests_per_s, self._limits.burst, self._limits.clients
        )
        self._source: IndexSource | None = None
        self._chain: ChainReader | None = None
        self._api: IndexApi | None = None
        self._problem: NexusError = STARTING
        self._shared: LRUCache[Hashable, RenderedPage] = LRUCache(_SHARED_PAGES)
        self._app = Starlette(
            routes=[
                Route("/static/{name}", serve_static),
                Route("/favicon.ico", _show_icon),
                *(Route(route.path, self._endpoint(route)) for route in ROUTES),
            ],
            middleware=[
                Middleware(GZipMiddleware, minimum_size=_MIN_GZIP_BYTES, compresslevel=_GZIP_LEVEL)
            ],
            exception_handlers={
                HTTPException: self._http_error,
                ProblemError: self._problem_error,
                PageError: self._page_error,
                PageRedirect: _redirect,
                NexusError: self._nexus_error,
                Exception: self._unexpected_error,
            },
        )
        self._app.router.redirect_slashes = False

    # --- Index

    def open(self, source: IndexSource, chain: ChainReader) -> None:
        """Show an index. The caller closes it, after `suspend` or `close`."""
        self.close()
        self._source, self._chain = source, chain
        # The chain of a local explorer may be a localnet, whose data is not public.
        is_local = self._hosts is not None and not self._hosts.hosts
        self._api = IndexApi(source, hosts=self._hosts, limits=self._limits, is_shared=not is_local)

    def suspend(self, problem: NexusError = STARTING) -> None:
        """Explain a problem on every page, until `open` is called again."""
        self.close()
        self._source = self._chain = self._api = None
        self.notice = ""
        self._problem = problem

    def close(self) -> None:
        """End the streams."""
        if self._api is not None:
            self._api.close()

    # --- Requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, within the limits of its client."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path.startswith("/api/") or path in _API_PATHS:
            app = (
                self._api
                or ProblemError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    self._problem.code,
                    "the index is not available now",
                ).response()
            )
            await app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the response to a request with another host name or too many requests, or None."""
        if self._hosts is not None:
            problem = self._hosts.refusal(Headers(scope=scope).get("host"), None)
            if problem is not None:
                return _plain(HTTPStatus.MISDIRECTED_REQUEST, problem)
        if scope["path"].startswith("/static/"):
            return None
        host, _ = scope.get("client") or ("", 0)
        try:
            self._buckets.take(client_key(host))
        except ProblemError as error:
            return _plain(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.headers)
        return None

    def _endpoint(self, route: PageRoute) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            if len(request.url.query) > _MAX_QUERY:
                raise PageError(
                    HTTPStatus.REQUEST_URI_TOO_LONG,
                    "The URL is too long",
                    hint="Use the command line for large inputs.",
                )
            if self._source is None or self._chain is None:
                raise self._problem
            source, chain = self._source, self._chain
            context = PageContext(request, self._network, source, chain, self._clock_ms())
            key = self._sharing_key(context) if route.is_shared else None
            if key in self._shared:
                return _rendered_response(request, self._shared[key])
            try:
                page = await route.endpoint(context)
            except sqlite3.Error as error:
                message = f"cannot read the index {source.path}: {error}"
                hint = "Run `nexus-tools index rebuild`."
                raise ValidationError("index_invalid", message, hint=hint) from error
            if not isinstance(page, Page):
                return page
            rendered = self._rendered(request, page, context)
            if key is not None:
                self._shared[key] = rendered
            return _rendered_response(request, rendered)

        return respond

    def _sharing_key(self, context: PageContext) -> Hashable:
        """Return what determines a page that shows only the index, or None for a search.

        The text index follows later, and its state is not known here.
        """
        url = context.request.url
        if context.request.query_params.get("q"):
            return None
        return url.path, url.query, context.state.version, context.now_ms // 1_000, self.notice

    def _rendered(
        self, request: Request, page: Page, context: PageContext | None
    ) -> "RenderedPage":
        values = {
            "title": page.title,
            "network": self._network,
            "navigation": NAVIGATION,
            "path": request.url.path,
            "now_ms": self._clock_ms() if context is None else context.now_ms,
            "notice": self.notice,
            "newest_ms": 0 if context is None else context.state.newest_ms,
            "checkpoint": None if context is None else context.state.checkpoint,
            "complete_since": 0 if context is None else context.state.complete_since,
            "leader_name": None if context is None else context.leader_name,
        }
        body = render(page.template, values | dict(page.values))
        digest = blake2b(body, digest_size=15).digest()
        return RenderedPage(body, page.status, f'W/"{b32encode(digest).decode().lower()}"')

    # --- Errors

    def _error_page(
        self,
        request: Request,
        status: HTTPStatus,
        message: str,
        hint: str = "",
        code: str = "",
    ) -> Response:
        template = "not_ready.html" if status is HTTPStatus.SERVICE_UNAVAILABLE else "error.html"
        values = {"status": status, "message": message, "hint": hint, "code": code}
        page = Page(template, status.phrase, values, status)
        return _rendered_response(request, self._rendered(request, page, None))

    def _http_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status = HTTPStatus(error.status_code)
        message = "This page does not exist" if status == HTTPStatus.NOT_FOUND else status.phrase
        response = self._error_page(request, status, message)
        response.headers.update(error.headers or {})
        return response

    def _problem_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        problem = error.problem
        return self._error_page(
            request, HTTPStatus(problem.status), problem.detail, code=problem.code
        )

    def _page_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, PageError)
        return self._error_page(request, error.status, error.message, error.hint, error.code)

    def _nexus_error(self, request: Request, error: Exception) -> Response:
        """Return the page of an error. All errors but invalid parameters mean: not ready."""
        assert isinstance(error, NexusError)
        if error.code in _INVALID:
            return self._error_page(
                request, HTTPStatus.BAD_REQUEST, error.message, error.hint, error.code
            )
        message, hint = error.message, error.hint
        if self._is_public:
            message, hint = "The index is not available now", "Try again later."
        return self._error_page(request, HTTPStatus.SERVICE_UNAVAILABLE, message, hint, error.code)

    def _unexpected_error(self, request: Request, error: Exception) -> Response:
        _log.error("page_failed", path=request.url.path, cause=error_summary(error))
        return self._error_page(
            request, HTTPStatus.INTERNAL_SERVER_ERROR, "The explorer failed to show this page"
        )


class RenderedPage(Struct, frozen=True):
    """The HTML of a page, and its entity tag, which is weak because compression changes bytes."""

    body: bytes
    status: HTTPStatus
    etag: str


def _rendered_response(request: Request, page: RenderedPage) -> Response:
    """Return the response with a page, or that the client already has it."""
    if page.status != HTTPStatus.OK:
        return _html(page.body, {"Cache-Control": "no-store"}, page.status)
    headers = {"ETag": page.etag, "Cache-Control": "no-cache"}
    if page.etag in request.headers.get("if-none-match", ""):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return _html(page.body, headers)


def _redirect(_: Request, target: Exception) -> Response:
    assert isinstance(target, PageRedirect)
    return RedirectResponse(target.url, target.status, {"Cache-Control": "no-store"})


async def _show_icon(_: Request) -> Response:
    return RedirectResponse(static_url("icon.svg"), HTTPStatus.MOVED_PERMANENTLY)


def _html(body: bytes, headers: Mapping[str, str], status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(body, status, headers, "text/html; charset=utf-8")


def _plain(status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(f"{text}\n", status, headers, "text/plain; charset=utf-8")
