"""A new connection: its first bytes say which protocol it speaks."""

import asyncio
from collections.abc import Callable

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.http2_connection import Http2Connection
from nexus_tools.localnet.rpc.http_protocol import HttpConnection

_TELLING = b"PRI"  # so begins HTTP/2, and no method of HTTP/1.1


class NewConnection(asyncio.Protocol):
    """Waits for the first bytes, then gives the connection to the protocol that they begin.

    The connection is added to `open_transports`, from which closed ones are dropped now and then.
    """

    def __init__(self, backend: Backend, open_transports: set[asyncio.Transport]) -> None:
        self._backend = backend
        self._open = open_transports
        self._begun = b""
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for bytes, but not for ever, and not for too many clients."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        limits = self._backend.limits
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(limits.idle_seconds, transport.abort)
        if len(self._open) >= limits.connections:
            self._open -= {each for each in self._open if each.is_closing()}
        if len(self._open) >= limits.connections:
            transport.abort()
        self._open.add(transport)

    def data_received(self, data: bytes) -> None:
        """Decide, as soon as the bytes tell."""
        self._begun += data
        if len(self._begun) < len(_TELLING) and _TELLING.startswith(self._begun):
            return
        self._timer.cancel()
        speaks_http2 = self._begun.startswith(_TELLING)
        make: Callable[[Backend], asyncio.Protocol] = (
            Http2Connection if speaks_http2 else HttpConnection
        )
        protocol = make(self._backend)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(self._begun)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """Forget a client that left without a word."""
        self._timer.cancel()
        self._open.discard(self._transport)
