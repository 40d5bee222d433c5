"""Health and metrics over HTTP, on the loopback interface only."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

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
async def serve_health(app: Starlette, port: int) -> AsyncIterator[int]:
    """Serve on a loopback port, which is given; signals stay with the caller.

    Raises `UsageError` with code `health_port_taken`.
    """
    listener = _listen(port)
    config = uvicorn.Config(app, log_config=None, lifespan="off", access_log=False)
    server = _Server(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listener.close()


class _Server(uvicorn.Server):
    """A server that leaves the signals of the process alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise UsageError(
            "health_port_taken", f"port {port} for health and metrics cannot be used: {error}"
        ) from error
    return listener
