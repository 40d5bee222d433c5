"""The server of tools: an ASGI application with `/health`, `/meta` and `/invoke` for each tool."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.responses import Response as HttpResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.allowed_sources import is_local_host
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import (
    Problem,
    ToolDefinition,
    protocol,
)
from nexus_tools.tool_server.base import Tool
from nexus_tools.tool_server.idempotency_cache import IdempotencyCache
from nexus_tools.tool_server.invoke import InvocationSlots, InvokeEndpoint, Limits
from nexus_tools.tool_server.response import ProblemError, Response
from nexus_tools.tool_server.user_traceback import traceback_of

if TYPE_CHECKING:
    from nexus_tools.tool_server.signatures.signatures import SignaturePolicy

Lifespan = Callable[["ToolServer"], AbstractAsyncContextManager[None]]

_log = get_logger("nexus_tools.tool_server")

_HEALTH_TIMEOUT_S = 5.0

_FOREIGN_HOST = (
    "this server only accepts requests for its loopback address. Use that address, or start the"
    " server with its public URL (`--public-url`)"
)


class ToolServer:
    """An ASGI application that serves each tool at the path of its FQN.

    The attribute `tools` maps paths to tools. The URL of a tool does not change when other tools
    are added. A tool is also reachable at the paths of older servers, which are the root and
    `/name`. If several tools share one of these paths, the header `Nexus-Tool` selects a tool.
    `public_url` is the URL of the root for clients. Without `public_url`, `/meta` repeats the
    address of the request. `lifespan` is an async context manager that is entered before the server
    is ready and exited when the server stops. `signatures` configures the verification of signed
    calls, which needs the public URL.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        lifespan: Lifespan | None = None,
        public_url: str | None = None,
        limits: Limits | None = None,
        recent: IdempotencyCache | None = None,
        signatures: "SignaturePolicy | None" = None,
    ) -> None:
        self.tools = _by_path(tools)
        self._public_url = public_url
        self._root_url = public_url
        self._is_local = False
        self._lifespan = lifespan
        self._slots = InvocationSlots(limits or Limits())
        self._slots.is_open = lifespan is None
        recent = recent or IdempotencyCache()
        self._endpoints = {
            tool: InvokeEndpoint(tool, self._slots, recent) for tool in self.tools.values()
        }
        self._invoke = {
            protocol.endpoint(path, protocol.INVOKE): self._invoke_of(path_tools)
            for path, path_tools in _all_paths(self.tools).items()
        }
        self._app = self._starlette()
        self._signatures: SignaturePolicy | None = None
        self._is_gated = False
        if self._public_url is not None:
            self.definitions(self._public_url)
        if signatures is not None:
            self.use_signatures(signatures)

    def definitions(self, root_url: str) -> list[ToolDefinition]:
        """Return the definitions of all tools for a server whose root is `root_url`."""
        return [
            tool.definition(protocol.tool_url(root_url, path)) for path, tool in self.tools.items()
        ]

    def use_signatures(self, signatures: "SignaturePolicy") -> None:
        """Replace the configuration of signed calls. Raises `signatures_invalid`.

        Until the server knows its public URL or its root URL, it rejects calls with 503.
        """
        self._signatures = signatures
        if self._root_url is None:
            self.refuse()
        else:
            self._set_gates(self._root_url)

    def set_root_url(self, url: str | None) -> None:
        """Set the URL of the root, if the server has no public URL.

        The server then counts as local. A local server rejects requests for other host names,
        because an attacker's host name may resolve to this machine (DNS rebinding). Raises
        `public_url_missing` if both URLs are missing and signatures must be verified.
        """
        self._root_url = self._public_url or url
        self._is_local = self._public_url is None and url is not None
        self._set_gates(self._root_url)

    def _set_gates(self, root_url: str | None) -> None:
        if self._signatures is None:
            return
        from nexus_tools.tool_server.signatures.signatures import gate  # noqa: PLC0415 - needed only for verification

        for tool, endpoint in self._endpoints.items():
            endpoint.gate = gate(self._signatures, str(tool.fqn), root_url)
        self._is_gated = True

    def include_causes(self) -> None:
        """Include causes and locations of errors in responses, for servers that authors test."""
        for endpoint in self._endpoints.values():
            endpoint.include_cause = True

    def refuse(self) -> None:
        """Respond with 503 to new invocations and to `/health`."""
        self._slots.is_open = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the author's lifespan during the context, and accept invocations meanwhile."""
        if not self._is_gated:
            self._set_gates(self._public_url)
        lifespan = self._lifespan(self) if self._lifespan else _nothing()
        async with lifespan:
            for endpoint in self._endpoints.values():
                endpoint.bind_log()
            self._slots.is_open = True
            try:
                yield
            finally:
                self.refuse()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. The hot path bypasses the router."""
        if self._is_local and scope["type"] == "http" and not is_local_host(_host_of(scope)):
            refusal = ProblemError(Problem.HOST_NOT_ALLOWED, _FOREIGN_HOST)
            await _response(refusal.response())(scope, receive, send)
            return
        if scope["type"] == "http" and scope["method"] == "POST":
            path: str = scope["path"]
            endpoint = self._invoke.get(path.removeprefix(scope.get("root_path", "")))
            if endpoint is not None:
                await endpoint(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _starlette(self) -> Starlette:
        routes: list[BaseRoute] = [Route(protocol.TOOLS, self._list)]
        for path, tools in _all_paths(self.tools).items():
            invoke = protocol.endpoint(path, protocol.INVOKE)
            routes.append(Route(invoke, self._invoke[invoke], methods=["POST"]))
            if len(tools) == 1:
                routes += [
                    Route(protocol.endpoint(path, protocol.HEALTH), self._health_of(tools[0])),
                    Route(protocol.endpoint(path, protocol.META), self._meta_of(tools[0])),
                ]
        app = Starlette(
            routes=routes,
            lifespan=lambda _: self.running(),
            exception_handlers={
                HTTPException: _http_problem,
                ProblemError: _problem,
                Exception: _unexpected,
            },
        )
        app.router.redirect_slashes = False
        return app

    async def _list(self, _: Request) -> HttpResponse:
        return JSONResponse(list(self.tools))

    def _invoke_of(self, tools: Sequence[Tool]) -> ASGIApp:
        """Return the endpoint of the path's only tool, or an endpoint that selects a tool."""
        endpoints = [self._endpoints[tool] for tool in tools]
        return endpoints[0] if len(tools) == 1 else _ByHeader(tools, endpoints)

    def _health_of(self, tool: Tool) -> "_Health":
        return _Health(tool, self._slots, self._endpoints[tool])

    def _meta_of(self, tool: Tool) -> Callable[[Request], HttpResponse]:
        """Return the endpoint of the definition, which shows the FQN's URL at every path."""

        def meta(request: Request) -> HttpResponse:
            root = self._public_url
            if root is None:
                root = request_origin(request) + request.scope.get("root_path", "")
            url = protocol.tool_url(root, protocol.tool_path(tool.fqn))
            return JSONResponse(tool.definition(url).as_json())

        return meta


class _Health:
    """The endpoint `GET /health`: status 200 if the tool can be invoked now, else 503."""

    def __init__(self, tool: Tool, slots: InvocationSlots, endpoint: InvokeEndpoint) -> None:
        self._tool = tool
        self._slots = slots
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the author's health checks, and respond with their results."""
        checks = {"server": self._slots.is_open} | await self._checks()
        gate = self._endpoint.gate
        if gate is not None and not gate.is_key_trusted:
            checks["signing_key"] = False
        ready = all(checks.values())
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        document = {"status": "ready" if ready else "not ready", "checks": checks}
        await JSONResponse(document, status)(scope, receive, send)

    async def _checks(self) -> dict[str, bool]:
        try:
            async with asyncio.timeout(_HEALTH_TIMEOUT_S):
                return await self._tool.check_health()
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything
            cause = traceback_of(error)
            _log.warning("health_check_raised", tool=str(self._tool.fqn), cause=cause)
            return {"health": False}


class _ByHeader:
    """The endpoint `POST /invoke` of several tools. The header `Nexus-Tool` selects a tool."""

    def __init__(self, tools: Sequence[Tool], endpoints: Sequence[InvokeEndpoint]) -> None:
        names = [str(tool.fqn).encode() for tool in tools]
        self._endpoints = dict(zip(names, endpoints, strict=True))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the selected tool. If the header selects none, respond with a problem."""
        tool_name = Headers(scope=scope).get(protocol.TOOL_HEADER, "")
        endpoint: ASGIApp | None = self._endpoints.get(tool_name.encode("latin-1"))
        if endpoint is None:
            detail = (
                f"several tools share this path. Name a tool in {protocol.TOOL_HEADER}, or call it"
                f" at its own path. GET {protocol.TOOLS} lists the paths"
            )
            endpoint = _response(ProblemError(Problem.TOOL_UNKNOWN, detail).response())
        await endpoint(scope, receive, send)


# --- The paths of tools


def _by_path(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Return the tools by their paths."""
    if not tools:
        raise ValidationError("tool_invalid", "a server needs at least one tool")
    by_path = {protocol.tool_path(tool.fqn): tool for tool in tools}
    if len(by_path) < len(tools):
        counts = Counter(str(tool.fqn) for tool in tools)
        duplicate = counts.most_common(1)[0][0]
        raise ValidationError("tool_invalid", f"the server has the tool {duplicate} twice")
    return by_path


def _all_paths(tools: Mapping[str, Tool]) -> dict[str, list[Tool]]:
    """Return the tools by path. The paths are those of the FQNs and those of older servers.

    Older servers served a single tool at `/`, and several tools at `/name` each. URLs with these
    paths are still registered on chain.
    """
    tools_by_path: defaultdict[str, list[Tool]] = defaultdict(list)
    for path, tool in tools.items():
        for alias in (path, f"/{tool.fqn.name}", "/"):
            tools_by_path[alias].append(tool)
    return tools_by_path


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _response(response: Response) -> HttpResponse:
    http_response = HttpResponse(response.body, response.status)
    http_response.raw_headers.extend(response.headers)
    return http_response


def _problem(_: Request, error: Exception) -> HttpResponse:
    assert isinstance(error, ProblemError)
    return _response(error.response())


def _http_problem(_: Request, error: Exception) -> HttpResponse:
    """Return the problem document for a router error, such as an unknown path or a wrong method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    headers = tuple(
        (name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()
    )
    code = status.name.lower()
    return _response(Response.of_problem(status, code, error.detail, headers=headers))


def _unexpected(_: Request, __: Exception) -> HttpResponse:
    return _response(ProblemError(Problem.SERVER_BROKE, "internal server error").response())


def _host_of(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"host":
            host: str = value.decode("latin-1")
            return host
    return ""


# --- The address of a request, for the `url` in `/meta`


# A name or IPv4 address, or an IPv6 address in brackets, with an optional port.
_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
)


def request_origin(request: Request) -> str:
    """Return the scheme and the host of a request from the client's point of view.

    Behind a proxy, the `X-Forwarded-…` headers contain the scheme and the host. Because the
    response repeats both, the function raises `ProblemError` 400 if they are missing or malformed.
    """
    host = _first(request.headers, "x-forwarded-host") or request.headers.get("host", "")
    scheme = _first(request.headers, "x-forwarded-proto") or request.url.scheme
    if not _HOST.fullmatch(host):
        raise _bad_header("the host of this request is missing or malformed")
    if scheme not in ("http", "https"):
        raise _bad_header("X-Forwarded-Proto is neither http nor https")
    return f"{scheme}://{host}"


def _first(headers: Headers, name: str) -> str:
    """Return the first value of a header, which the proxy nearest to the client wrote."""
    return headers.get(name, "").split(",")[0].strip()


def _bad_header(detail: str) -> ProblemError:
    return ProblemError(Problem.HEADER_INVALID, detail)
