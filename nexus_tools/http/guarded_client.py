"""The Leader's HTTP client, which connects only to checked addresses.

For each connection, aiohttp calls the resolver once and connects to the returned address. aiohttp
uses the host name of the URL in `Host` and in TLS (SNI and certificate). The client uses no
proxies, cookies or environment variables, and follows no redirects.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import Any

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult

from nexus_tools import __version__
from nexus_tools.http.address_guard import AddressGuard, AddressRefused
from nexus_tools.http.fair_share import FairShare
from nexus_tools.tool import protocol

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""A function that resolves a host name to IP addresses, or raises `OSError` for an unknown name."""

MAX_HEADERS = 64
MAX_HEADER_BYTES = 8_190
MAX_PROBLEM_BYTES = 8_192
_RESOLVER_THREADS = 64
_THREADS_PER_NAME = 4

_HEADERS = {
    "User-Agent": f"nexus-tools/{__version__}",
    "Accept": protocol.JSON,
    "Accept-Encoding": "identity",
}


class SystemResolver:
    """The operating system's resolver.

    The resolver runs in separate threads, because lookups can be slow.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolver")
        self._share = FairShare[str](_RESOLVER_THREADS, _THREADS_PER_NAME)

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses of `host`."""
        loop = asyncio.get_running_loop()
        await self._share.acquire(host)
        lookup = self._threads.submit(_addresses, host)
        # Cancelling this task does not end the thread, which keeps its slot while it hangs.
        lookup.add_done_callback(lambda _: _call_in_loop(loop, self._share.release, host))
        addresses: list[str] = await asyncio.wrap_future(lookup)
        return list(dict.fromkeys(addresses))

    def close(self) -> None:
        """Stop without waiting for lookups in progress."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def guarded_client(
    guard: AddressGuard,
    resolve: Resolve,
    *,
    max_connections: int,
    tls: ssl.SSLContext | None = None,
) -> aiohttp.ClientSession:
    """Return a client that checks every connection with `guard` and has no timeouts.

    `tls` decides which certificates are trusted. By default, the client trusts certificates of
    public authorities.
    """
    connector = aiohttp.TCPConnector(
        resolver=_GuardedResolver(guard, resolve),
        use_dns_cache=False,
        limit=max_connections,
        ssl=tls or _public_authorities(),
        socket_factory=_guarded_socket_factory(guard),
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(),  # the caller sets one deadline for the exchange
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    )


@cache
def _public_authorities() -> ssl.SSLContext:
    """Return the trust in public authorities, which all clients share: loading it takes 50 ms."""
    return httpx.create_ssl_context(trust_env=False)


class _GuardedResolver(AbstractResolver):
    """A resolver that returns the addresses of a name only if all of them are allowed."""

    def __init__(self, guard: AddressGuard, resolve: Resolve) -> None:
        self._guard = guard
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of `host`. Raises `AddressRefused`."""
        addresses = [
            address
            for address in await self._resolve(host)
            if family in (socket.AF_UNSPEC, _family(address))
        ]
        self._guard.check_resolved(addresses)
        return [_result(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Do nothing, because the resolver holds no resources."""


def _guarded_socket_factory(guard: AddressGuard) -> Callable[[Any], socket.socket]:
    """Return a socket factory that checks each address again, as a last line of defense."""

    def make(info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = info
        guard.check_address(ip_address(address[0]))
        return socket.socket(family, kind, protocol)

    return make


def _call_in_loop(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None], host: str) -> None:
    """Call a function in the event loop, from a thread that may outlive the loop."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(tell, host)


def _addresses(host: str) -> list[str]:
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(info[4][0]) for info in infos]


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET


def _result(host: str, port: int, address: str) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=_family(address),
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


# --- Requests and responses

_OK = 200
_SIGNATURE_HEADERS = tuple(
    name.lower()
    for name in (
        protocol.CONTENT_DIGEST_HEADER,
        protocol.SIGNATURE_INPUT_HEADER,
        protocol.SIGNATURE_HEADER,
        protocol.OUTCOME_SIGNATURE_HEADER,
    )
)


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a tool.

    `body` is the body of a response with status 200, or a short problem document. Other bodies are
    not read. `signed` maps the names of the signature headers, in lower case, to their values.
    """

    status: int
    retry_after: str
    body: bytes
    signed: Mapping[str, str] = field(default_factory=dict)


class NoResponseError(Exception):
    """The error for a connection that failed or broke before the response was complete.

    The message is for users. `refusal` is the reason why the Leader does not connect to the
    address. Only the operator may see the refusal.
    """

    def __init__(self, message: str, refusal: str = "") -> None:
        super().__init__(message)
        self.refusal = refusal


class ResponseTooLargeError(Exception):
    """The error for a response body that is larger than the limit."""


class ResponseMalformedError(Exception):
    """The error for a response that violates HTTP, or whose content coding was not requested."""


async def exchange(
    client: aiohttp.ClientSession,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    max_response_bytes: int,
) -> Response:
    """Send one request and return the response. The caller sets the deadline.

    The request has `Accept-Encoding: identity`. A response with another content coding is rejected,
    so nothing is ever decompressed.

    Raises:
        NoResponseError: There was no complete response.
        ResponseTooLargeError: The body has more than `max_response_bytes`.
        ResponseMalformedError: The response violates HTTP.
    """
    request = client.request(method, url, headers=headers, data=body or None, allow_redirects=False)
    try:
        async with request as response:
            try:
                return await _read(response, max_response_bytes)
            except (ResponseTooLargeError, ResponseMalformedError):
                _abort(response)
                raise
    except aiohttp.ClientResponseError as error:
        raise ResponseMalformedError("the response is not valid HTTP") from error
    except (aiohttp.ClientError, OSError) as error:
        raise NoResponseError(_public_message(error), _guard_refusal(error)) from error
    except UnicodeError as error:
        # The resolver and TLS encode the name with IDNA, which rejects some names.
        raise NoResponseError("the tool's host name is malformed") from error


async def _read(response: aiohttp.ClientResponse, limit: int) -> Response:
    retry_after = _header(response, "Retry-After", "")[:64]
    if response.status != _OK:
        return Response(response.status, retry_after, await _problem(response))
    if _header(response, "Content-Encoding", "identity").lower() != "identity":
        raise ResponseMalformedError(
            "the response is compressed, but the request did not allow that"
        )
    if _declared_length(response) > limit:
        raise ResponseTooLargeError
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit:
            raise ResponseTooLargeError
    signed = {name: _header(response, name, "") for name in _SIGNATURE_HEADERS}
    return Response(response.status, retry_after, bytes(body), signed)


def _abort(response: aiohttp.ClientResponse) -> None:
    """Close a connection without a TLS shutdown, which would wait while the peer keeps sending."""
    connection = response.connection
    if connection is not None and connection.protocol is not None:
        connection.protocol.abort()


async def _problem(response: aiohttp.ClientResponse) -> bytes:
    """Return the problem document if the meaning of the status depends on it, else empty bytes."""
    is_plain = _header(response, "Content-Encoding", "identity").lower() == "identity"
    if response.status not in protocol.STATUSES_WITH_CODE or not is_plain:
        return b""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_PROBLEM_BYTES:
            return b""
    return bytes(body)


def _declared_length(response: aiohttp.ClientResponse) -> int:
    declared = _header(response, "Content-Length", "0")
    return int(declared) if declared.isascii() and declared.isdigit() else 0


def _header(response: aiohttp.ClientResponse, name: str, default: str) -> str:
    """Return all values of a header, joined by commas (RFC 9110, section 5.3)."""
    return ", ".join(response.headers.getall(name, (default,)))


def _guard_refusal(error: BaseException | None) -> str:
    """Return the reason why the guard refused the address, or "" if an error has another cause."""
    while error is not None and not isinstance(error, AddressRefused):
        error = error.__cause__
    return "" if error is None else str(error)


def _public_message(error: Exception) -> str:
    """Return a description of an error without addresses, because it is published on chain."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "the tool's TLS certificate is not trusted"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "cannot connect to the tool"
    return "the connection to the tool was interrupted"
