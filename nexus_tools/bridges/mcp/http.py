"""A server that is reached by HTTP: the SDK's transports over a client with size limits.

The client does not follow redirects. A failed request receives a local error response, so that it
does not end the other requests on the same connection.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from nexus_tools.bridges.mcp.declaration import HttpServer
from nexus_tools.bridges.mcp.link import LOCAL_ERROR_CODE, Link

# The time limit for connecting and for sending a request.
_CONNECT_S = 10.0
# An event stream may be silent for a long time. Calls have their own time limits.
_READ_TIMEOUT_S = 300.0


@asynccontextmanager
async def http_link(server: HttpServer, max_bytes: int) -> AsyncIterator[Link]:
    """Connect to the server, and limit responses and events to `max_bytes`."""
    # The SDK logs URLs, which may contain secrets. This module reports failures itself.
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
    if server.transport == "sse":
        streams = sse_client(
            server.url,
            dict(server.headers),
            timeout=_CONNECT_S,
            sse_read_timeout=_READ_TIMEOUT_S,
            httpx_client_factory=_ClientFactory(max_bytes),
        )
        async with _ignore_late_events(), streams as (read, write):
            yield Link(read, write)
        return
    async with (
        _client(server.headers, max_bytes) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=max_bytes) as (
            read,
            write,
        ),
    ):
        yield Link(read, write)


@asynccontextmanager
async def _ignore_late_events() -> AsyncIterator[None]:
    """Ignore the error that the SDK's event reader raises if an event arrives during closing."""
    try:
        yield
    except* anyio.BrokenResourceError:
        pass


def _client(
    headers: Mapping[str, str], max_bytes: int, timeout: httpx2.Timeout | None = None
) -> httpx2.AsyncClient:
    client = httpx2.AsyncClient(
        # A compressed response may be far larger than its length.
        headers={**headers, "accept-encoding": "identity"},
        timeout=timeout or httpx2.Timeout(_CONNECT_S, read=_READ_TIMEOUT_S),
        transport=_BoundedTransport(max_bytes),
        # Do not use the proxies and passwords of the operator's environment.
        trust_env=False,
    )
    # Before the SDK follows a same-origin redirect, it checks `max_redirects` but not
    # `follow_redirects`.
    client.max_redirects = 0
    return client


@dataclass(frozen=True, slots=True)
class _ClientFactory:
    """The client factory for `sse_client`, with its time limits and our size limits."""

    max_bytes: int

    def __call__(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        assert auth is None
        return _client(headers or {}, self.max_bytes, timeout)


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """A transport that limits each response, and responds itself if the server is unreachable."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response, or a JSON-RPC error with the reason of the failure."""
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            problem = f"{type(error).__name__}: {error}".rstrip(": ")
            return _error(request, f"cannot reach the server: {problem}")
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await stream.aclose()
            return _error(request, "the server compressed its response without being asked to")
        kind = response.headers.get("content-type", "")
        is_event_stream = kind.lower().startswith("text/event-stream")
        response.stream = _BoundedStream(stream, None if is_event_stream else self._max_bytes)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    """A bounded response body whose failures raise the exception that the SDK expects."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int | None) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if self._max_bytes is not None and size > self._max_bytes:
                    raise httpx2.StreamError(f"the response is longer than {self._max_bytes} bytes")
                yield chunk
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"the response ended early: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()


def _error(request: httpx2.Request, problem: str) -> httpx2.Response:
    """Return a response that the SDK reads as an error of this request only."""
    error = {"code": LOCAL_ERROR_CODE, "message": problem}
    return httpx2.Response(
        503,
        headers={"content-type": "application/json"},
        content=json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode(),
        request=request,
    )
