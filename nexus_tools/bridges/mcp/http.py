"""A server that is reached by HTTP: the SDK's transports over a client that has bounds.

Redirects are not followed. A request that fails gets a response in the server's place, so that one
that breaks does not end the others, which share the connection.
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
from nexus_tools.bridges.mcp.link import RESPONDED_HERE, Link

# Within this time a connection stands, and a request is sent.
_CONNECT_S = 10.0
# A stream of events may be silent for long; calls have time limits of their own.
_SILENCE_S = 300.0


@asynccontextmanager
async def http_link(server: HttpServer, max_bytes: int) -> AsyncIterator[Link]:
    """Talk to the server; no response, and no event in one, is longer than `max_bytes`."""
    # The SDK logs URLs, which may have secrets in them. We report what fails.
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
    if server.transport == "sse":
        streams = sse_client(
            server.url,
            dict(server.headers),
            timeout=_CONNECT_S,
            sse_read_timeout=_SILENCE_S,
            httpx_client_factory=_ClientFactory(max_bytes),
        )
        async with _closed_in_peace(), streams as (read, write):
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
async def _closed_in_peace() -> AsyncIterator[None]:
    """The SDK's reader of events breaks on one that comes while its streams are being closed."""
    try:
        yield
    except* anyio.BrokenResourceError:
        pass


def _client(
    headers: Mapping[str, str], max_bytes: int, timeout: httpx2.Timeout | None = None
) -> httpx2.AsyncClient:
    client = httpx2.AsyncClient(
        # What is compressed may be far longer than it seems.
        headers={**headers, "accept-encoding": "identity"},
        timeout=timeout or httpx2.Timeout(_CONNECT_S, read=_SILENCE_S),
        transport=_BoundedTransport(max_bytes),
        # Proxies and passwords of the operator's environment are not the server's business.
        trust_env=False,
    )
    # The SDK asks this, and not `follow_redirects`, before it follows one within the origin.
    client.max_redirects = 0
    return client


@dataclass(frozen=True, slots=True)
class _ClientFactory:
    """What `sse_client` makes its client with; its time limits are those of ours."""

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
    """Bounds each response, and responds in the place of a server that cannot be reached."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, or a JSON-RPC error that says why there is none."""
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            problem = f"{type(error).__name__}: {error}".rstrip(": ")
            return _error(request, f"the server cannot be reached: {problem}")
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await stream.aclose()
            return _error(request, "the server compresses its response, which nobody asked for")
        kind = response.headers.get("content-type", "")
        endless = kind.lower().startswith("text/event-stream")
        response.stream = _BoundedStream(stream, None if endless else self._max_bytes)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that breaks as the SDK expects bodies to break, when it is too long too."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int | None) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if self._max_bytes is not None and size > self._max_bytes:
                    raise httpx2.StreamError(f"it is longer than {self._max_bytes} bytes")
                yield chunk
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"it broke off: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()


def _error(request: httpx2.Request, problem: str) -> httpx2.Response:
    """What the SDK reads as an error of this one request."""
    error = {"code": RESPONDED_HERE, "message": problem}
    return httpx2.Response(
        503,
        headers={"content-type": "application/json"},
        content=json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode(),
        request=request,
    )
