"""Runs a `ToolServer` on a socket with uvicorn, until it is told to stop."""

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
import uvicorn

from nexus_tools.errors import UsageError
from nexus_tools.toolkit.server import ToolServer
from nexus_tools.toolkit.tool import Tool

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080

_GRACE_S = 10


def serve(
    *tools: Tool,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    public_url: str | None = None,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
) -> None:
    """Serve `tools` until SIGINT or SIGTERM; for a `__main__` of an author's own."""
    server = ToolServer(tools, public_url=public_url)
    run(server, host, port, tls_certificate=tls_certificate, tls_key=tls_key)


def run(
    server: ToolServer,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    *,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running invocations end.

    Port 0 takes a free one. `on_ready` gets the URL once requests are answered. Raises
    `UsageError` for an address that cannot be bound and for incomplete TLS settings.
    """
    if (tls_certificate is None) != (tls_key is None):
        message = "TLS needs both a certificate and a key"
        raise UsageError("tls_incomplete", message, hint="give both, or neither for plain HTTP")
    if not structlog.is_configured():
        _log_to_stderr()
    with listening_socket(host, port) as listener:
        _uvicorn(server, listener, tls_certificate, tls_key, on_ready).run(sockets=[listener])


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises `address_unusable`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise UsageError(
            "address_unusable",
            f"cannot listen on {host}:{port}: {error}",
            hint="choose another host or port; port 0 takes a free one",
        ) from error


def _uvicorn(
    server: ToolServer,
    listener: socket.socket,
    tls_certificate: Path | None,
    tls_key: Path | None,
    on_ready: Callable[[str], None] | None,
) -> "_GracefulServer":
    config = uvicorn.Config(
        server,
        ssl_certfile=tls_certificate,
        ssl_keyfile=tls_key,
        access_log=False,
        log_config=None,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    try:
        config.load()
    except (OSError, ValueError) as error:
        raise UsageError("tls_unusable", f"cannot read the TLS files: {error}") from error
    scheme = "http" if tls_certificate is None else "https"
    host, port = listener.getsockname()[:2]
    url = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
    return _GracefulServer(config, server, lambda: on_ready(url) if on_ready else None)


class _GracefulServer(uvicorn.Server):
    """uvicorn that says when it is ready, refuses new work when told to stop, and returns."""

    def __init__(
        self, config: uvicorn.Config, server: ToolServer, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._tool_server = server
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as error:
            message = "the server's lifespan failed to start; the log has the cause"
            raise UsageError("start_failed", message) from error
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._tool_server.refuse()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM without raising them again: to be stopped is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _log_to_stderr() -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
