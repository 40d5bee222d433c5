"""Health and metrics over HTTP, on the loopback interface only."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nexus_tools.embedded_server import embedded, listening_socket
from nexus_tools.errors import UsageError
from nexus_tools.leader.metrics import LeaderMetrics

HOST = "127.0.0.1"


def health_app(problems: Callable[[], dict[str, str]], metrics: LeaderMetrics) -> Starlette:
    """`/healthz` while the process lives, `/readyz` while it has no problem, `/metrics`.

    `problems` gives what is wrong by the part that it concerns; empty if nothing is.
    """

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> Response:
        found = problems()
        status = "not ready" if found else "ready"
        return JSONResponse(
            {"status": status, "problems": found}, status_code=503 if found else 200
        )

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.render(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", show_metrics),
        ]
    )


@asynccontextmanager
async def not_ready(port: int, problem: str) -> AsyncIterator[int]:
    """Be alive and not ready, on a loopback port, while the Leader waits for its node."""
    app = health_app(lambda: {"node": problem}, LeaderMetrics())
    async with serve_health(app, port) as bound:
        yield bound


@asynccontextmanager
async def serve_health(app: Starlette, port: int) -> AsyncIterator[int]:
    """Serve on a loopback port, which is given; signals stay with the caller.

    Raises `UsageError` with code `health_port_taken`.
    """
    try:
        listener = listening_socket(HOST, port)
    except UsageError as error:
        message = f"port {port} for health and metrics cannot be used: {error.message}"
        raise UsageError("health_port_taken", message) from error
    async with embedded(app, listener, lifespan="off"):
        yield listener.getsockname()[1]
