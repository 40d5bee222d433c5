"""The server on one port for both HTTP versions.

The first bytes of a connection show its version.
"""

import asyncio
from functools import partial
from typing import cast

from nexus_tools.sui.errors import UsageError
from nexus_tools.sui.localnet.http.connection import Connection
from nexus_tools.sui.localnet.http.exchange import Application
from nexus_tools.sui.localnet.http.http2 import Http2Connection
from nexus_tools.sui.localnet.http.memory_budget import Budget

_HTTP2_START = b"PRI"  # the start of HTTP/2's preface, which is not an HTTP/1.1 method


class HttpServer:
    """A server for an application, which runs in the event loop's thread and limits connections.

    The server disconnects a client that is idle for `idle_seconds` before its first request, or in
    the middle of a request. After its first request, an HTTP/2 client may keep an idle connection
    open. Incomplete requests may use `connection_bytes` per client, and `server_bytes` in total.
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
        """Start listening, and return the port. If `port` is 0, the system chooses a free port.

        Raises:
            UsageError: `port_unavailable`.
        """
        loop = asyncio.get_running_loop()
        self._admits = True
        try:
            self._server = await loop.create_server(lambda: _NewConnection(self), host, port)
        except OSError as error:
            reason = str(error.strerror).rpartition(": ")[2]  # the message repeats the address
            raise UsageError(
                "port_unavailable",
                f"cannot listen on {host}:{port}: {reason}",
                hint="Choose another port, or use port 0 to get a free port.",
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening. Abort all connections and their requests, and wait for their end."""
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
        """The number of open connections."""
        return len(self._open)

    def admit(self, transport: asyncio.Transport) -> bool:
        """Add a new connection, or return False if there are too many.

        The method `forget` removes a connection.
        """
        if not self._admits or len(self._open) >= self._connections:
            return False
        self._open.add(transport)
        return True

    def budget(self) -> Budget:
        """Return the memory budget of a new connection."""
        return Budget(self._connection_bytes, "a connection", self._budget)

    def forget(self, transport: asyncio.Transport) -> None:
        """Remove a connection that has ended and whose requests have ended."""
        self._open.discard(transport)
        if not self._open:
            self._emptied.set()


class _NewConnection(asyncio.Protocol):
    """The asyncio protocol that detects the HTTP version of a new connection.

    After the first bytes, the protocol of the client's HTTP version replaces this protocol.
    """

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._first_bytes = b""
        self._transport: asyncio.Transport
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first bytes with a deadline, or abort if there are too many connections."""
        self._transport = cast(
            "asyncio.Transport", transport
        )  # uvloop's transport is a different class
        if self._server.admit(self._transport):
            loop, seconds = asyncio.get_running_loop(), self._server.idle_seconds
            self._deadline = loop.call_later(seconds, self._transport.abort)
        else:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Choose the HTTP version as soon as the received bytes show it."""
        self._first_bytes += data
        if len(self._first_bytes) < len(_HTTP2_START) and _HTTP2_START.startswith(
            self._first_bytes
        ):
            return
        self._take_back_deadline()
        protocol = _protocol_of(self._first_bytes)
        server = self._server
        connection = protocol(server.application, server.idle_seconds, server.budget())
        connection.when_over = partial(self._server.forget, self._transport)
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)
        connection.data_received(self._first_bytes)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Remove a client that disconnected before its first request."""
        self._take_back_deadline()
        self._server.forget(self._transport)

    def _take_back_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def _protocol_of(first_bytes: bytes) -> type[Connection]:
    """Return the class for a connection that starts with these bytes."""
    if first_bytes.startswith(_HTTP2_START):
        return Http2Connection
    # Import late, because nearly all clients use gRPC, which does not need h11.
    from nexus_tools.sui.localnet.http.http1 import Http1Connection  # noqa: PLC0415

    return Http1Connection
