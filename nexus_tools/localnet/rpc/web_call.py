"""A call in gRPC-web: it comes as an HTTP request, and its response goes as one of HTTP."""

from collections.abc import Mapping
from typing import Protocol

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import serve_call
from nexus_tools.localnet.rpc.cors import Headers, cors_headers
from nexus_tools.localnet.rpc.grpc_web import (
    WebFormat,
    WebRequest,
    message_frame,
    response_format,
    trailers_frame,
)
from nexus_tools.localnet.rpc.info_headers import info_headers
from nexus_tools.localnet.rpc.status import RpcError
from nexus_tools.localnet.rpc.trailers import status_trailers


class HttpResponse(Protocol):
    """A response of HTTP, whichever version it is of. Raises `ClientGoneError`."""

    async def begin(self, status: int, headers: Headers) -> None:
        """Send the head."""

    async def send(self, data: bytes) -> None:
        """Send a part of the body, when the client has room for it."""

    async def end(self, data: bytes) -> None:
        """Send the last part of the body."""


async def serve_web_call(
    backend: Backend,
    path: str,
    headers: Mapping[str, str],
    request: WebRequest,
    response: HttpResponse,
) -> None:
    """Serve a call whose request has come whole."""
    reply = _WebReply(backend, response_format(headers), response)
    await serve_call(backend, path, headers, request.receive, reply)


async def refuse_web_call(
    backend: Backend, headers: Mapping[str, str], error: RpcError, response: HttpResponse
) -> None:
    """Answer a call of which nothing is read."""
    await _WebReply(backend, response_format(headers), response).finish(error)


class _WebReply:
    """Messages and trailers in the body; an error without messages is in the head alone."""

    def __init__(self, backend: Backend, form: WebFormat, response: HttpResponse) -> None:
        self._backend = backend
        self._form = form
        self._response = response
        self._begun = False

    async def send(self, message: bytes) -> None:
        """Send a message."""
        if not self._begun:
            await self._begin([])
        await self._response.send(self._form.encode(message_frame(message)))

    async def finish(self, error: RpcError | None) -> None:
        """Send how the call ended."""
        trailers = status_trailers(self._backend.messages, error)
        if self._begun or error is None:
            if not self._begun:
                await self._begin([])
            await self._response.end(self._form.encode(trailers_frame(trailers)))
        else:
            await self._begin([*trailers, ("content-length", "0")])
            await self._response.end(b"")

    async def _begin(self, more: Headers) -> None:
        self._begun = True
        headers = [("content-type", self._form.value), *cors_headers()]
        await self._response.begin(200, [*headers, *info_headers(self._backend.node), *more])
