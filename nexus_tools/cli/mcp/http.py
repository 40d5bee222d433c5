"""An MCP server on a socket."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import uvicorn

from nexus_tools.bridges.mcp.server import HTTP_PATH, http_app
from nexus_tools.toolkit.serving import listening_socket

_GRACE_S = 5


async def serve_http(
    server: Any,
    host: str,
    port: int,
    *,
    allowed_hosts: tuple[str, ...],
    on_ready: Callable[[str], None],
) -> None:
    """Serve until it is cancelled; `on_ready` gets the URL. Port 0 takes a free one.

    `allowed_hosts` are names by which clients reach it besides its address. Raises
    `address_unusable`.
    """
    with listening_socket(host, port) as listener:
        host, port = listener.getsockname()[:2]
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        app = http_app(server, allowed_hosts=(place, *allowed_hosts))
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=_GRACE_S,
        )
        on_ready(f"http://{place}{HTTP_PATH}")
        await _serve(_Server(config), listener)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until cancelled; what runs then has a few seconds to end."""
    task = asyncio.create_task(server.serve([listener]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        server.should_exit = True
        await task
        raise


class _Server(uvicorn.Server):
    """A server that leaves the signals of the process alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield
