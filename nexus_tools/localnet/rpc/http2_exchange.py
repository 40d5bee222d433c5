"""One exchange of HTTP/2 that is not native gRPC: a call in gRPC-web, or a plain request."""

import asyncio
from contextlib import suppress

from grpclib.protocol import Stream
from h2.exceptions import ProtocolError

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import ClientGoneError
from nexus_tools.localnet.rpc.cors import Headers
from nexus_tools.localnet.rpc.grpc_web import WebRequest, too_large
from nexus_tools.localnet.rpc.http_request import HttpRequest
from nexus_tools.localnet.rpc.routes import answer_route, json_answer
from nexus_tools.localnet.rpc.web_call import HttpResponse, refuse_web_call, serve_web_call

_PART_BYTES = 16 * 1024


async def serve_exchange(backend: Backend, stream: Stream, headers: dict[str, str]) -> None:
    """Serve an exchange whose headers have come."""
    request = HttpRequest(headers.get(":method", ""), headers.get(":path", ""), headers)
    response = _Response(stream)
    limit = request.largest_body(backend.limits)
    with suppress(ClientGoneError, TimeoutError):
        async with asyncio.timeout(backend.limits.idle_seconds):
            body = await _read_body(stream, limit)
        if request.web_format is None:
            await _answer_plainly(backend, request, body, response)
        elif len(body) > limit:
            error = too_large(backend.limits.request_bytes)
            await refuse_web_call(backend, headers, error, response)
        else:
            messages = WebRequest(request.web_format, body, backend.limits.request_bytes)
            await serve_web_call(backend, request.path, headers, messages, response)
    with suppress(ProtocolError):
        if stream.closable:  # one of both sides has not ended its half, and will not
            stream.reset_nowait()


async def _answer_plainly(
    backend: Backend, request: HttpRequest, body: bytes, response: HttpResponse
) -> None:
    if len(body) > request.largest_body(backend.limits):
        answer = json_answer(backend, 413, {"error": "the request is too large"})
    else:
        answer = answer_route(backend, request.method, request.path, body)
    await response.begin(answer.status, answer.headers)
    await response.end(b"" if request.method == "HEAD" else answer.body)


async def _read_body(stream: Stream, limit: int) -> bytes:
    """The body, or, if it is larger than the limit, more of it than that.

    grpclib reads parts of a known size: when less is left, it is asked for half as much.
    """
    body = bytearray()
    size = _PART_BYTES
    while len(body) <= limit:
        try:
            part = await stream.recv_data(size)
        except AssertionError:  # what grpclib says when less is left
            size = max(1, size // 2)
            continue
        if not part:
            break
        body += part
    return bytes(body)


class _Response:
    """A response in parts."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def begin(self, status: int, headers: Headers) -> None:
        """Send the head."""
        try:
            await self._stream.send_headers([(":status", str(status)), *headers])
        except ProtocolError:
            raise ClientGoneError from None

    async def send(self, data: bytes) -> None:
        """Send a part of the body, when the client has room for it."""
        try:
            await self._stream.send_data(data)
        except ProtocolError:
            raise ClientGoneError from None

    async def end(self, data: bytes) -> None:
        """Send the last part of the body."""
        try:
            await self._stream.send_data(data, end_stream=True)
        except ProtocolError:
            raise ClientGoneError from None
