"""One port for both versions of HTTP: the first bytes of a connection say which it speaks."""

import asyncio
from functools import partial
from typing import cast

from nexus_tools.sui.errors import UsageError
from nexus_tools.sui.localnet.http.connection import Connection
from nexus_tools.sui.localnet.http.exchange import Application
from nexus_tools.sui.localnet.http.http2 import Http2Connection
from nexus_tools.sui.localnet.http.memory_budget import Budget

_TELLING = b"PRI"  # so begins HTTP/2, and no method of HTTP/1.1


class HttpServer:
    """Serves an application to so many connections at most, in the event loop's thread.

    A client that has begun nothing, or not ended what it has begun, is dropped when it was idle for
    so many seconds; one that speaks HTTP/2 may keep its connection without using it. So many
    bytes are kept of requests that have not come whole, for each client and for all.
    """

    def __init__(
        self,
        application: Application,
        *,
        connections: int = 256,
        idle_seconds: float = 60.0,
        connection_bytes: int = 64 * 2**20,
        server_bytes: int = 256 * 2**20,
    ) -> None:
        self.application = application
        self._connections = connections
        self.idle_seconds = idle_seconds
        self._connection_bytes = connection_bytes
        self._budget = Budget(server_bytes, "the server")
        self._server: asyncio.Server | None = None
        self._admits = False
        self._open: set[asyncio.Transport] = set()
        self._emptied = asyncio.Event()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen, and give the port; 0 asks for a free one. Raises `port_unavailable`."""
        loop = asyncio.get_running_loop()
        self._admits = True
        try:
            self._server = await loop.create_server(lambda: _NewConnection(self), host, port)
        except OSError as error:
            reason = str(error.strerror).rpartition(": ")[2]  # asyncio names the address again
            raise UsageError(
                "port_unavailable",
                f"{host}:{port} cannot be listened on: {reason}",
                hint="another program may use it; choose another port, or 0 for a free one",
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening, and end every connection with what it has under way."""
        if self._server is None:
            return
        self._admits = False
        self._server.close()
        for transport in tuple(self._open):
            transport.abort()
        while self._open:
            self._emptied.clear()
            await self._emptied.wait()
        await self._server.wait_closed()
        self._server = None

    @property
    def connected(self) -> int:
        """How many clients have a connection."""
        return len(self._open)

    def admit(self, transport: asyncio.Transport) -> bool:
        """Let a client in, if there are not too many, and keep its place until `forget`."""
        if not self._admits or len(self._open) >= self._connections:
            return False
        self._open.add(transport)
        return True

    def budget(self) -> Budget:
        """What a new connection may keep."""
        return Budget(self._connection_bytes, "a connection", self._budget)

    def forget(self, transport: asyncio.Transport) -> None:
        """A connection is over, and all that was served on it."""
        self._open.discard(transport)
        if not self._open:
            self._emptied.set()


class _NewConnection(asyncio.Protocol):
    """Waits for the first bytes, then gives the connection to the protocol that they begin."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._begun = b""
        self._transport: asyncio.Transport
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for bytes, but not for ever, and not for too many clients."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one without its class
        if self._server.admit(self._transport):
            loop, seconds = asyncio.get_running_loop(), self._server.idle_seconds
            self._deadline = loop.call_later(seconds, self._transport.abort)
        else:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Decide, as soon as the bytes tell."""
        self._begun += data
        if len(self._begun) < len(_TELLING) and _TELLING.startswith(self._begun):
            return
        self._take_back_deadline()
        speaks = _spoken(self._begun)
        server = self._server
        connection = speaks(server.application, server.idle_seconds, server.budget())
        connection.when_over = partial(self._server.forget, self._transport)
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)
        connection.data_received(self._begun)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """Forget a client that left without a word."""
        self._take_back_deadline()
        self._server.forget(self._transport)

    def _take_back_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def _spoken(begun: bytes) -> type[Connection]:
    """The protocol of a connection that begins with these bytes."""
    if begun.startswith(_TELLING):
        return Http2Connection
    # Late: who speaks gRPC alone, as nearly all clients do, has no use for h11.
    from nexus_tools.sui.localnet.http.http1 import Http1Connection  # noqa: PLC0415

    return Http1Connection
