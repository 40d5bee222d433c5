"""A server of tools: an ASGI application with `/health`, `/meta` and `/invoke` for each tool."""

import asyncio
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolDefinition
from nexus_tools.toolkit.answer import Answer, ProblemError
from nexus_tools.toolkit.invoke import InvokeEndpoint, Limits, Slots
from nexus_tools.toolkit.origin import request_origin
from nexus_tools.toolkit.recent import RecentInvocations
from nexus_tools.toolkit.tool import Tool

Lifespan = Callable[["ToolServer"], AbstractAsyncContextManager[None]]

_log = structlog.get_logger("nexus_tools.toolkit")

_HEALTH_TIMEOUT_S = 5.0


class ToolServer:
    """An ASGI application that serves tools.

    A single tool lives at the root, several each at the path of their name. `public_url` is where
    the root is reached from outside; without it `/meta` repeats the address of the request.
    `lifespan` is an async context manager around the time in which the server is ready.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        lifespan: Lifespan | None = None,
        public_url: str | None = None,
        limits: Limits | None = None,
        recent: RecentInvocations | None = None,
    ) -> None:
        self.tools = _by_path(tools)
        self._public_url = None if public_url is None else public_url.rstrip("/")
        self._lifespan = lifespan
        self._slots = Slots(limits or Limits())
        self._slots.is_open = lifespan is None
        recent = recent or RecentInvocations()
        self._invoke = {
            _join(path, "/invoke"): InvokeEndpoint(tool, self._slots, recent)
            for path, tool in self.tools.items()
        }
        self._app = self._starlette()
        if self._public_url is not None:
            self.definitions(self._public_url)

    def definitions(self, root_url: str) -> list[ToolDefinition]:
        """The definitions of all tools for a server whose root is reached at `root_url`."""
        root = root_url.rstrip("/")
        return [tool.definition(_url(root, path)) for path, tool in self.tools.items()]

    def refuse(self) -> None:
        """Take no more invocations: they are answered with 503, as is `/health`."""
        self._slots.is_open = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which the server is ready, inside the author's own lifespan."""
        lifespan = self._lifespan(self) if self._lifespan else _nothing()
        async with lifespan:
            for endpoint in self._invoke.values():
                endpoint.bind_log()
            self._slots.is_open = True
            try:
                yield
            finally:
                self.refuse()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the hot path goes around the router."""
        if scope["type"] == "http" and scope["method"] == "POST":
            path: str = scope["path"]
            endpoint = self._invoke.get(path.removeprefix(scope.get("root_path", "")))
            if endpoint is not None:
                await endpoint(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _starlette(self) -> Starlette:
        routes: list[BaseRoute] = [Route("/tools", self._list)]
        for path, tool in self.tools.items():
            invoke = self._invoke[_join(path, "/invoke")]
            routes += [
                Route(_join(path, "/health"), _Health(tool, self._slots)),
                Route(_join(path, "/meta"), self._meta_of(path, tool)),
                Route(_join(path, "/invoke"), invoke, methods=["POST"]),
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

    async def _list(self, _: Request) -> Response:
        return JSONResponse(list(self.tools))

    def _meta_of(self, path: str, tool: Tool) -> Callable[[Request], Response]:
        def meta(request: Request) -> Response:
            root = self._public_url
            if root is None:
                root = request_origin(request) + request.scope.get("root_path", "")
            return JSONResponse(tool.definition(_url(root, path)).as_json())

        return meta


class _Health:
    """`GET /health` of one tool: 200 if it can be invoked now, else 503."""

    def __init__(self, tool: Tool, slots: Slots) -> None:
        self._tool = tool
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the tool's own checks and answer."""
        checks = {"server": self._slots.is_open} | await self._checks()
        ready = all(checks.values())
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        document = {"status": "ready" if ready else "not ready", "checks": checks}
        await JSONResponse(document, status)(scope, receive, send)

    async def _checks(self) -> dict[str, bool]:
        try:
            async with asyncio.timeout(_HEALTH_TIMEOUT_S):
                return await self._tool.check_health()
        except Exception as error:  # noqa: BLE001 - the edge to an author's code
            cause = "".join(traceback.format_exception(error))
            _log.warning("health_check_broke", tool=str(self._tool.fqn), cause=cause)
            return {"health": False}


def _by_path(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Where each tool lives: `/` if alone, else `/name`, or `/fqn` where two share a name."""
    if not tools:
        raise ValidationError("tool_invalid", "a server needs at least one tool")
    twice = [fqn for fqn, count in Counter(str(tool.fqn) for tool in tools).items() if count > 1]
    if twice:
        raise ValidationError("tool_invalid", f"the server has {twice[0]} more than once")
    if len(tools) == 1:
        return {"/": tools[0]}
    names = Counter(tool.fqn.name for tool in tools)
    return {f"/{tool.fqn.name if names[tool.fqn.name] == 1 else tool.fqn}": tool for tool in tools}


def _join(path: str, endpoint: str) -> str:
    return path.rstrip("/") + endpoint


def _url(root: str, path: str) -> str:
    return root + path.rstrip("/")


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _response(answer: Answer) -> Response:
    response = Response(answer.body, answer.status)
    response.raw_headers.extend(answer.headers)
    return response


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return _response(error.answer())


def _http_problem(_: Request, error: Exception) -> Response:
    """What the router itself refuses: an unknown path, a wrong method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    headers = tuple(
        (name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()
    )
    code = status.name.lower()
    return _response(ProblemError(status, code, error.detail, headers=headers).answer())


def _unexpected(_: Request, __: Exception) -> Response:
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _response(ProblemError(status, "server_broke", "the server broke").answer())
