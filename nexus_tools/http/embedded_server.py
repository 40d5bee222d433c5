"""An ASGI application served by HTTP inside the event loop that runs already: uvicorn, embedded.

It leaves the signals, the logs and the loop of the process alone.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    import uvicorn

_BACKLOG = 2_048
_GRACE_S = 10


@asynccontextmanager
async def embedded(
    app: Any, listener: socket.socket, **options: Any
) -> AsyncIterator["uvicorn.Server"]:
    """The time in which `app` answers on `listener`, which is closed in the end.

    What runs when the context ends has ten seconds to end, too. `options` are uvicorn's. Raises
    `UsageError` with code `tls_unusable`, or `start_failed` if the lifespan of `app` fails.
    """
    # Late: only who serves pays for a web server.
    import uvicorn  # noqa: PLC0415

    from nexus_tools.http.bounded_http import BoundedHttpProtocol  # noqa: PLC0415

    quiet = {"log_config": None, "access_log": False, "server_header": False, "ws": "none"}
    options.setdefault("http", BoundedHttpProtocol)
    config = uvicorn.Config(app, **{**quiet, "timeout_graceful_shutdown": _GRACE_S, **options})
    server = uvicorn.Server(config)
    with listener:
        # As `Server.serve`, which would also take the signals and look for the end ten times a
        # second: here the end is where the context ends.
        try:
            config.load()
        except (OSError, ValueError) as error:
            raise UsageError("tls_unusable", f"cannot read the TLS files: {error}") from error
        server.lifespan = config.lifespan_class(config)
        try:
            await server.startup(sockets=[listener])
        except SystemExit as error:
            message = "the server's lifespan failed to start; the log has the cause"
            raise UsageError("start_failed", message) from error
        ticking = asyncio.create_task(_tick(server))
        try:
            yield server
        finally:
            ticking.cancel()
            await server.shutdown(sockets=[listener])


async def _tick(server: "uvicorn.Server") -> None:
    """Renew what responses have in common, as the date, each second."""
    while True:
        await server.on_tick(0)
        await asyncio.sleep(1)


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises `address_unusable`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY for accepted connections only if the listener names its protocol,
    # which `socket.create_server` does not: small responses would wait for the peer's delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # where it would let others take the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            "address_unusable",
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}",
            hint="choose another host or port; port 0 takes a free one",
        ) from error
    return listener


def url_of(listener: socket.socket, scheme: str = "http") -> str:
    """The URL of what listens there, without a path."""
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def host_and_port(text: str) -> tuple[str, int]:
    """Host and port of `host:port`, `[::1]:port`, `:port`. Raises `address_invalid`."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError("address_invalid", f"{text!r} is no address", hint="write 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - as `:port` asks for
