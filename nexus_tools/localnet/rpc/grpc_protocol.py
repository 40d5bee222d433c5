"""gRPC over HTTP/2: reads a request, serves it, and tells how that ended.

Source: the gRPC protocol over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md). Frames, windows
and settings of HTTP/2 are grpclib's and h2's affair.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from grpclib.config import Configuration
from grpclib.protocol import AbstractHandler, H2Protocol, Stream
from h2.config import H2Configuration
from h2.exceptions import ProtocolError

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import ClientGoneError, serve_call
from nexus_tools.localnet.rpc.coalescing_transport import CoalescingTransport
from nexus_tools.localnet.rpc.grpc_web import message_frame
from nexus_tools.localnet.rpc.http2_exchange import serve_exchange
from nexus_tools.localnet.rpc.info_headers import info_headers
from nexus_tools.localnet.rpc.response_encoder import ResponseEncoder
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.localnet.rpc.trailers import status_trailers

_LOG = logging.getLogger(__name__)

_CONTENT_TYPE = "application/grpc"
_ACCEPTED = (_CONTENT_TYPE, "application/grpc+proto")
_PREFIX_BYTES = 5
_TURN_BYTES = 4096
_FAREWELL_SECONDS = 1.0

_CONFIGURATION = Configuration().__for_server__()
# What comes in is checked; what goes out is our own, and right.
_H2_CONFIGURATION = H2Configuration(
    client_side=False,
    header_encoding="utf-8",
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)


class GrpcConnection(H2Protocol):
    """One HTTP/2 connection with at most 100 calls at once, as h2 has it.

    Whatever bytes it is sent, it ends only itself.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(_Calls(backend), _CONFIGURATION, _H2_CONFIGURATION)
        self._transport: asyncio.Transport
        self._heard = bytearray()  # what has come and is not read yet

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        super().connection_made(CoalescingTransport(transport))
        # grpclib makes the connection and has no other way to it.
        self.connection._connection.encoder = ResponseEncoder()  # noqa: SLF001

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if len(data) <= _TURN_BYTES and not self._heard:
            self._read(data)
            return
        self._heard += data
        if len(self._heard) == len(data):  # nobody reads it yet
            self._transport.pause_reading()
            self._read_some()

    def _read_some(self) -> None:
        """Read for a while, then let the other clients have their turn: small frames take long."""
        if self._transport.is_closing():
            self._heard.clear()
            return
        self._read(bytes(self._heard[:_TURN_BYTES]))
        del self._heard[:_TURN_BYTES]
        if self._heard:
            asyncio.get_running_loop().call_soon(self._read_some)
        else:
            self._transport.resume_reading()

    def _read(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except Exception:  # noqa: BLE001 - the edge of the server
            _LOG.debug("closing a connection that sent nonsense", exc_info=True)
            self.processor.close("nonsense")


class _Calls(AbstractHandler):
    """The calls of one connection, each served by a task."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._tasks: dict[Stream, asyncio.Task[None]] = {}

    def accept(
        self, stream: Stream, headers: list[tuple[str, str]], release_stream: Callable[[], None]
    ) -> None:
        """Serve a call whose headers have come."""
        task = asyncio.get_running_loop().create_task(_serve(self._backend, stream, headers))
        self._tasks[stream] = task

        def finish(_: asyncio.Task[None]) -> None:
            self._tasks.pop(stream, None)
            release_stream()

        task.add_done_callback(finish)

    def cancel(self, stream: Stream) -> None:
        """Stop serving a call that the client has given up."""
        if task := self._tasks.get(stream):
            task.cancel()

    def close(self) -> None:
        """Stop serving: the connection is gone."""
        for task in tuple(self._tasks.values()):
            task.cancel()


async def _serve(backend: Backend, stream: Stream, headers: list[tuple[str, str]]) -> None:
    """Serve one exchange: a call, or what else HTTP/2 can carry."""
    found = dict(headers)
    if not _is_grpc(found):
        await serve_exchange(backend, stream, found)
        return

    def receive() -> Awaitable[bytes | None]:
        return _receive(stream, backend.limits.request_bytes)

    await serve_call(backend, found.get(":path", ""), found, receive, _Reply(backend, stream))


def _is_grpc(headers: dict[str, str]) -> bool:
    content_type = headers.get("content-type", "").partition(";")[0].strip()
    return headers.get(":method") == "POST" and content_type in _ACCEPTED


async def _receive(stream: Stream, limit: int) -> bytes | None:
    """The next message of a request; None behind the last. Raises `RpcError`."""
    try:
        prefix = await stream.recv_data(_PREFIX_BYTES)
        if not prefix:
            return None
        if prefix[0]:
            raise RpcError(Code.UNIMPLEMENTED, "compressed messages are not read")
        size = int.from_bytes(prefix[1:], "big")
        if size > limit:
            raise RpcError(
                Code.RESOURCE_EXHAUSTED, f"the request has {size} bytes; at most {limit} are read"
            )
        return await stream.recv_data(size)
    except AssertionError:  # what grpclib says when a stream ends inside of a message
        raise invalid("the request ends early") from None


class _Reply:
    """The response of one call: headers, messages, trailers."""

    def __init__(self, backend: Backend, stream: Stream) -> None:
        self._stream = stream
        self._backend = backend
        self._begun = False

    async def send(self, message: bytes) -> None:
        """Send a message, when the client has room for it."""
        try:
            if not self._begun:
                self._begun = True
                await self._stream.send_headers(self._headers())
            await self._stream.send_data(message_frame(message))
        except ProtocolError:
            raise ClientGoneError from None

    async def finish(self, error: RpcError | None) -> None:
        """Send how the call ended. A client that is gone, or takes nothing, is left alone."""
        trailers = [] if self._begun else self._headers()
        trailers += status_trailers(self._backend.messages, error)
        with suppress(ProtocolError, TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._stream.send_headers(trailers, end_stream=True)
            if self._stream.closable:  # the client has not ended its own half
                self._stream.reset_nowait()

    def _headers(self) -> list[tuple[str, str]]:
        return [
            (":status", "200"),
            ("content-type", "application/grpc+proto"),
            *info_headers(self._backend.node),
        ]
