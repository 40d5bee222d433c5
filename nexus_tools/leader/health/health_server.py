"""HTTP endpoints for health, readiness and metrics."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from nexus_tools.errors import UsageError
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.allowed_sources import is_local_host
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")
_PUBLIC_WARNING = (
    "anyone who can connect to this URL can read balances and tool names without a password"
)


def health_app(problems: Callable[[], dict[str, str]], metrics: LeaderMetrics) -> Starlette:
    """Return an app with `/healthz`, `/readyz` and `/metrics`.

    `problems` returns the current problems by component. `/readyz` responds with 503 if there are
    problems, else with 200.
    """

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> Response:
        current = problems()
        status = "not ready" if current else "ready"
        return JSONResponse(
            {"status": status, "problems": current}, status_code=503 if current else 200
        )

    async def show_metrics(request: Request) -> Response:
        text, media_type = metrics.render(request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": media_type})

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", show_metrics),
        ]
    )


@asynccontextmanager
async def not_ready(port: int, problem: str, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve health checks that report `problem`, while the Leader waits for its node."""
    app = health_app(lambda: {"node": problem}, LeaderMetrics())
    async with serve_health(app, port, host) as bound:
        yield bound


@asynccontextmanager
async def serve_health(app: ASGIApp, port: int, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve an app on an IP address, and yield the port. The caller handles signals.

    On a loopback address, requests with another host name are rejected. A web page whose host name
    resolves to this machine therefore cannot read the responses (DNS rebinding).

    Raises:
        UsageError: `health_port_taken`.
    """
    try:
        listener = listening_socket(host, port)
    except UsageError as error:
        message = f"cannot use port {port} for health and metrics: {error.message}"
        raise UsageError("health_port_taken", message, hint=error.hint) from error
    if ip_address(host).is_loopback:
        app = _LocalOnly(app)
    else:
        _log.warning("health_endpoint_public", url=url_of(listener), why=_PUBLIC_WARNING)
    async with serve_embedded(app, listener, lifespan="off"):
        yield listener.getsockname()[1]


class _LocalOnly:
    """ASGI middleware that responds with 421 (RFC 9110) if `Host` is not a local host name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app, or respond with 421."""
        app = self._app
        if scope["type"] == "http" and not is_local_host(Headers(scope=scope).get("host", "")):
            app = PlainTextResponse("Use the address 127.0.0.1 as the host.", 421)
        await app(scope, receive, send)
