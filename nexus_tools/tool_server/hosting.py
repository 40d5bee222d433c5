"""A `ToolServer` on a socket: inside a program that does more, or as a process of its own."""

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
from nexus_tools.http.embedded_server import embedded, listening_socket, url_of
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
    """The time in which a server, or one made of tools, answers in this event loop; gives its URL.

    Each tool lives below it at the path of its FQN, a single one at the URL itself, too: see
    `ToolServer`. Port 0 takes a free one. Signals and logs stay with the program. Raises
    `address_unusable`.
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
    alongside: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running invocations end; the process is the server's.

    Port 0 takes a free one. `on_ready` gets the URL once requests get responses. `alongside` is
    entered before the server listens, in its event loop. Events go to stderr as JSON unless
    structlog is configured. Raises `UsageError` for an address that cannot be bound and for
    incomplete TLS settings, and what `alongside` does.
    """
    if (tls_certificate is None) != (tls_key is None):
        message = "TLS needs both a certificate and a key"
        raise UsageError("tls_incomplete", message, hint="give both, or neither for plain HTTP")
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
    """A server on a socket, its URL and who serves it; in the end it takes nothing new."""
    listener = listening_socket(host, port)
    tls = {"ssl_certfile": tls_certificate, "ssl_keyfile": tls_key}
    url = url_of(listener, "http" if tls_certificate is None else "https")
    # At the loopback nobody else gets there but by a proxy, whose URL has to be given.
    is_own = ip_address(listener.getsockname()[0]).is_loopback
    try:
        server.reached_at(url if is_own else None)
    except UsageError:
        listener.close()
        raise
    async with embedded(server, listener, lifespan="on", **tls) as serving:
        try:
            yield url, serving
        finally:
            server.refuse()


class _Stop:
    """The end of a process that serves: SIGINT and SIGTERM, which are no failure."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        self.serving: uvicorn.Server | None = None
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """The time in which they are heard; only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._hear) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, _: FrameType | None) -> None:
        """Stop; whoever interrupts a second time does not want to wait for what still runs."""
        if self.serving is not None:
            self.serving.force_exit = self.wanted.is_set() and number == signal.SIGINT
        self._loop.call_soon_threadsafe(self.wanted.set)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop's loops, which take half the time of asyncio's; there are none for Windows."""
    try:
        import uvloop  # noqa: PLC0415 - not for who serves in a loop of their own
    except ImportError:
        return None
    return uvloop.new_event_loop
