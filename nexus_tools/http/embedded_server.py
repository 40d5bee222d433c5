"""An ASGI server that runs uvicorn inside a running event loop.

The server does not change the signal handlers, the logging or the event loop of the process.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    import uvicorn

LOOPBACK = "127.0.0.1"
"""The host of an address that has only a port."""

_BACKLOG = 2_048
_GRACE_S = 10


@asynccontextmanager
async def serve_embedded(
    app: Any, listener: socket.socket, **options: Any
) -> AsyncIterator["uvicorn.Server"]:
    """Serve `app` on `listener` during the context, and close the listener at the end.

    Requests in progress at the end of the context have ten seconds to finish. `options` are passed
    to `uvicorn.Config`.

    Raises:
        UsageError: `tls_files_invalid`, or `start_failed` if the lifespan of `app` fails.
    """
    # A late import, because most commands do not need a web server.
    import uvicorn  # noqa: PLC0415

    from nexus_tools.http.bounded_http import BoundedHttpProtocol  # noqa: PLC0415

    defaults = {"log_config": None, "access_log": False, "server_header": False, "ws": "none"}
    options.setdefault("http", BoundedHttpProtocol)
    config = uvicorn.Config(app, **{**defaults, "timeout_graceful_shutdown": _GRACE_S, **options})
    server = uvicorn.Server(config)
    with listener:
        # This code is equivalent to `Server.serve`, which would also install signal handlers and
        # check for the end ten times a second.
        try:
            config.load()
        except (OSError, ValueError) as error:
            raise UsageError("tls_files_invalid", f"cannot read the TLS files: {error}") from error
        server.lifespan = config.lifespan_class(config)
        await _start(server, listener)
        tick_task = asyncio.create_task(_tick(server))
        try:
            yield server
        finally:
            tick_task.cancel()
            await server.shutdown(sockets=[listener])


async def _start(server: "uvicorn.Server", listener: socket.socket) -> None:
    """Start a server. If the caller is cancelled, let the start finish and shut the server down.

    Cancelling the lifespan would log a traceback.
    """
    starting = asyncio.create_task(_startup(server, listener))
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(UsageError):
            await starting
            await server.shutdown(sockets=[listener])
        raise


async def _startup(server: "uvicorn.Server", listener: socket.socket) -> None:
    try:
        await server.startup(sockets=[listener])
    except SystemExit as error:
        message = "the server's lifespan failed to start. The log shows the cause"
        raise UsageError("start_failed", message) from error


async def _tick(server: "uvicorn.Server") -> None:
    """Update the shared parts of responses, such as the date, every second."""
    while True:
        await server.on_tick(0)
        await asyncio.sleep(1)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address. Port 0 selects a free port.

    An empty host is the loopback address.

    Raises:
        UsageError: `address_unavailable`.
    """
    host = host or LOOPBACK  # for a socket, an empty host means all interfaces
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY for accepted connections only if the listener names its protocol, but
    # `socket.create_server` does not. Small responses would then wait for the peer's delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # on Windows, the option would let other programs bind the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            "address_unavailable",
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}",
            hint="Choose another host or port. Port 0 selects a free port.",
        ) from error
    return listener


def url_of(listener: socket.socket, scheme: str = "http") -> str:
    """Return the URL of a listening socket, without a path."""
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def parse_host_and_port(text: str) -> tuple[str, int]:
    """Parse `host:port`, `[::1]:port`, or a port of the loopback interface.

    Raises:
        UsageError: `address_invalid`.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(
            "address_invalid",
            f"{text!r} is not a valid address",
            hint="Write HOST:PORT, such as 127.0.0.1:8080.",
        )
    return host.strip("[]") or LOOPBACK, int(port)
