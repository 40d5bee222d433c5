"""The functions that run a `ToolServer` on a socket, in an event loop or as its own process."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from nexus_tools.errors import UsageError
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.sui.support.logs import log_to_stderr
from nexus_tools.tool_server.base import Tool
from nexus_tools.tool_server.server import ToolServer

if TYPE_CHECKING:
    import uvicorn

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080


@asynccontextmanager
async def serving(
    server: ToolServer | Tool,
    *others: Tool,
    host: str = DEFAULT_HOST,
    port: int = 0,
    public_url: str | None = None,
) -> AsyncIterator[str]:
    """Run a server, or a new server for tools, in this event loop, and yield its URL.

    Each tool is served at the path of its FQN. A single tool is also served at the root (see
    `ToolServer`). Port 0 selects a free port. The caller is responsible for signal handling and
    logging.

    Raises:
        UsageError: The address cannot be bound (`address_unavailable`).
    """
    if isinstance(server, Tool):
        server = ToolServer((server, *others), public_url=public_url)
    async with _hosted(server, host, port) as (url, _):
        yield public_url or url


def serve(
    *tools: Tool,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    public_url: str | None = None,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
) -> None:
    """Serve `tools` until SIGINT or SIGTERM. Call this function from your own `__main__`."""
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
    alongside: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running invocations end.

    The function handles the signals of the process. Port 0 selects a free port. `on_ready` is
    called with the URL as soon as the server responds to requests. The context `alongside` is
    entered in the server's event loop before the server listens. Logs go to stderr as JSON unless
    structlog is configured.

    Raises:
        UsageError: The address cannot be bound, or the TLS settings are incomplete. Errors of
            `alongside` are not caught.
    """
    if (tls_certificate is None) != (tls_key is None):
        message = "TLS needs a certificate and a key, but only one of them is set"
        raise UsageError("tls_incomplete", message, hint="Set both, or set neither for plain HTTP.")
    log_to_stderr("json", again=False)

    async def until_stopped() -> None:
        stop = _Stop()
        with stop.on_signals():
            async with (
                alongside or nullcontext(),
                _hosted(server, host, port, tls_certificate, tls_key) as (url, stop.serving),
            ):
                if on_ready is not None:
                    on_ready(url)
                await stop.wanted.wait()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(until_stopped())


@asynccontextmanager
async def _hosted(
    server: ToolServer,
    host: str,
    port: int,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
) -> AsyncIterator[tuple[str, "uvicorn.Server"]]:
    """Serve on a new socket, and yield its URL and the uvicorn server.

    At the end of the context, reject new invocations.
    """
    listener = listening_socket(host, port)
    tls = {"ssl_certfile": tls_certificate, "ssl_keyfile": tls_key}
    url = url_of(listener, "http" if tls_certificate is None else "https")
    # Other machines can reach a loopback address only through a proxy. The operator must then
    # configure the proxy's URL as the public URL.
    is_loopback = ip_address(listener.getsockname()[0]).is_loopback
    try:
        server.set_root_url(url if is_loopback else None)
    except UsageError:
        listener.close()
        raise
    async with serve_embedded(server, listener, lifespan="on", **tls) as serving:
        try:
            yield url, serving
        finally:
            server.refuse()


class _Stop:
    """The shutdown of a server process by SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        self.serving: uvicorn.Server | None = None
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM inside the context, if this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        previous_handlers = {
            number: signal.signal(number, self._handle_signal) for number in numbers
        }
        try:
            yield
        finally:
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, _: FrameType | None) -> None:
        """Stop the server. After a second SIGINT, do not wait for running invocations."""
        if self.serving is not None:
            self.serving.force_exit = self.wanted.is_set() and number == signal.SIGINT
        self._loop.call_soon_threadsafe(self.wanted.set)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop factory, which halves the time of a call, or None without uvloop."""
    try:
        import uvloop  # noqa: PLC0415 - not needed in an author's own event loop
    except ImportError:
        return None
    return uvloop.new_event_loop
