"""gRPC over HTTP/2: reads a request, serves it, and tells how that ended.

Source: the gRPC protocol over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md).
"""

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import (
    ClientGoneError,
    answer_call,
    send_answer,
    serve_call,
    short_call,
)
from nexus_tools.localnet.rpc.cors import Headers
from nexus_tools.localnet.rpc.grpc_web import message_frame
from nexus_tools.localnet.rpc.http2_exchange import serve_exchange
from nexus_tools.localnet.rpc.http2_stream import Http2Stream
from nexus_tools.localnet.rpc.info_headers import info_headers
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.localnet.rpc.trailers import status_trailers

_CONTENT_TYPE = "application/grpc"
_ACCEPTED = (_CONTENT_TYPE, "application/grpc+proto")
_PREFIX_BYTES = 5
_FAREWELL_SECONDS = 1.0


def begin_serving(backend: Backend, stream: Http2Stream) -> Coroutine[Any, Any, None] | None:
    """Serve an exchange: at once if there is nothing to wait for, else as what a task is to do."""
    body = stream.arrived
    if not (stream.has_ended and _is_grpc(stream.headers) and _is_one_message(body, backend)):
        return _serve(backend, stream)
    found = short_call(backend, stream.headers.get(":path", ""), stream.headers)
    if found is None:
        return _serve(backend, stream)
    answer = answer_call(found, bytes(body[_PREFIX_BYTES:]))
    reply = _Reply(backend, stream)
    with suppress(ClientGoneError):
        if not reply.has_room(answer):
            return send_answer(backend, reply, answer)
        reply.put(answer)
    return None


def _is_one_message(body: bytearray, backend: Backend) -> bool:
    """Whether this is one message that is read, and nothing else."""
    size = len(body) - _PREFIX_BYTES
    return (
        0 <= size <= backend.limits.request_bytes
        and not body[0]
        and int.from_bytes(body[1:_PREFIX_BYTES], "big") == size
    )


async def _serve(backend: Backend, stream: Http2Stream) -> None:
    """Serve one exchange: a call, or what else HTTP/2 can carry."""
    headers = stream.headers
    if not _is_grpc(headers):
        await serve_exchange(backend, stream)
        return

    def receive() -> Awaitable[bytes | None]:
        return _receive(stream, backend.limits.request_bytes)

    reply = _Reply(backend, stream)
    await serve_call(backend, headers.get(":path", ""), headers, receive, reply)


def _is_grpc(headers: Mapping[str, str]) -> bool:
    content_type = headers.get("content-type", "").partition(";")[0].strip()
    return headers.get(":method") == "POST" and content_type in _ACCEPTED


async def _receive(stream: Http2Stream, limit: int) -> bytes | None:
    """The next message of a request; None behind the last. Raises `RpcError`."""
    prefix = await stream.read(_PREFIX_BYTES)
    if not prefix:
        return None
    if prefix[0]:
        raise RpcError(Code.UNIMPLEMENTED, "compressed messages are not read")
    size = int.from_bytes(prefix[1:], "big")
    if size > limit:
        raise RpcError(
            Code.RESOURCE_EXHAUSTED, f"the request has {size} bytes; at most {limit} are read"
        )
    message = await stream.read(size)
    if len(prefix) < _PREFIX_BYTES or len(message) < size:
        raise invalid("the request ends early")
    return message


class _Reply:
    """The response of one call: headers, messages, trailers."""

    def __init__(self, backend: Backend, stream: Http2Stream) -> None:
        self._stream = stream
        self._backend = backend
        self._begun = False

    async def send(self, message: bytes) -> None:
        """Send a message, when the client has room for it."""
        if not self._begun:
            self._begun = True
            await self._stream.send_headers(self._headers())
        await self._stream.send_data(message_frame(message))

    async def finish(self, error: RpcError | None) -> None:
        """Send how the call ended. A client that is gone, or takes nothing, is left alone."""
        with suppress(ClientGoneError, TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._stream.send_headers(self._trailers(error), end=True)
            self._stream.close()  # the client may not have ended its own half

    def has_room(self, answer: bytes | RpcError) -> bool:
        """Whether all of the response can be sent at once. Raises `ClientGoneError`."""
        size = len(answer) if isinstance(answer, bytes) else 0
        return self._stream.room() >= _PREFIX_BYTES + size

    def put(self, answer: bytes | RpcError) -> None:
        """Send all of the response, for which there is room, at once."""
        if isinstance(answer, RpcError):
            self._stream.put_headers(self._trailers(answer), end=True)
            return
        self._begun = True
        self._stream.put_headers(self._headers())
        self._stream.put_data(message_frame(answer))
        self._stream.put_headers(self._trailers(None), end=True)

    def _trailers(self, error: RpcError | None) -> Headers:
        head = [] if self._begun else self._headers()
        return [*head, *status_trailers(self._backend.messages, error)]

    def _headers(self) -> Headers:
        return [
            (":status", "200"),
            ("content-type", "application/grpc+proto"),
            *info_headers(self._backend.node),
        ]
