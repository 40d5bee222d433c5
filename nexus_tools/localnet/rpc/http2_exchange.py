"""One exchange of HTTP/2 that is not native gRPC: a call in gRPC-web, or a plain request."""

import asyncio
from contextlib import suppress

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import ClientGoneError
from nexus_tools.localnet.rpc.cors import Headers
from nexus_tools.localnet.rpc.grpc_web import WebRequest, too_large
from nexus_tools.localnet.rpc.http2_stream import Http2Stream
from nexus_tools.localnet.rpc.http_request import HttpRequest
from nexus_tools.localnet.rpc.routes import answer_route, json_answer
from nexus_tools.localnet.rpc.web_call import HttpResponse, refuse_web_call, serve_web_call

_PART_BYTES = 16 * 1024


async def serve_exchange(backend: Backend, stream: Http2Stream) -> None:
    """Serve an exchange whose headers have come."""
    headers = stream.headers
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
    stream.close()


async def _answer_plainly(
    backend: Backend, request: HttpRequest, body: bytes, response: HttpResponse
) -> None:
    if len(body) > request.largest_body(backend.limits):
        answer = json_answer(backend, 413, {"error": "the request is too large"})
    else:
        answer = answer_route(backend, request.method, request.path, body)
    await response.begin(answer.status, answer.headers)
    await response.end(b"" if request.method == "HEAD" else answer.body)


async def _read_body(stream: Http2Stream, limit: int) -> bytes:
    """The body, or, if it is larger than the limit, more of it than that."""
    body = bytearray()
    while len(body) <= limit and (part := await stream.read(_PART_BYTES)):
        body += part
    return bytes(body)


class _Response:
    """A response in parts."""

    def __init__(self, stream: Http2Stream) -> None:
        self._stream = stream

    async def begin(self, status: int, headers: Headers) -> None:
        """Send the head."""
        await self._stream.send_headers([(":status", str(status)), *headers])

    async def send(self, data: bytes) -> None:
        """Send a part of the body, when the client has room for it."""
        await self._stream.send_data(data)

    async def end(self, data: bytes) -> None:
        """Send the last part of the body."""
        await self._stream.send_data(data, end=True)
