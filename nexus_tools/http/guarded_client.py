"""The HTTP client of a Leader: it connects to checked addresses only, and follows nobody.

aiohttp asks the resolver once per connection and connects to what it gives, with the name of the
URL in `Host` and in TLS (SNI and certificate). Proxies, cookies, redirects and the environment play
no part.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
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
"""From a host name to its IP addresses as text; raises `OSError` if there are none."""

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
    """The operating system's resolver, in threads of its own: names of strangers can be slow."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolver")
        self._share = FairShare[str](_RESOLVER_THREADS, _THREADS_PER_NAME)

    async def __call__(self, host: str) -> Sequence[str]:
        """The addresses of `host`."""
        loop = asyncio.get_running_loop()
        await self._share.take(host)
        lookup = self._threads.submit(_addresses, host)
        # Whoever gives up waiting does not end a thread, which keeps its slot as long as it hangs.
        lookup.add_done_callback(lambda _: _tell(loop, self._share.give_back, host))
        found: list[str] = await asyncio.wrap_future(lookup)
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """Stop without waiting for names that nobody resolves."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def guarded_client(
    guard: AddressGuard,
    resolve: Resolve,
    *,
    max_connections: int,
    tls: ssl.SSLContext | None = None,
) -> aiohttp.ClientSession:
    """A client whose every connection passes `guard`; it has no timeouts of its own.

    `tls` says which certificates are trusted; by default those of the public authorities.
    """
    connector = aiohttp.TCPConnector(
        resolver=_GuardedResolver(guard, resolve),
        use_dns_cache=False,
        limit=max_connections,
        ssl=tls or httpx.create_ssl_context(trust_env=False),
        socket_factory=_guarded_socket_factory(guard),
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(),  # every exchange has one deadline for all of it
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    )


class _GuardedResolver(AbstractResolver):
    """Gives the addresses of a name if all of them are allowed."""

    def __init__(self, guard: AddressGuard, resolve: Resolve) -> None:
        self._guard = guard
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host`; raises `AddressRefused`."""
        addresses = [
            address
            for address in await self._resolve(host)
            if family in (socket.AF_UNSPEC, _family(address))
        ]
        self._guard.check_resolved(addresses)
        return [_result(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Nothing is held."""


def _guarded_socket_factory(guard: AddressGuard) -> Callable[[Any], socket.socket]:
    """Makes sockets for allowed addresses alone: nothing gets around the last check."""

    def make(info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = info
        guard.check_address(ip_address(address[0]))
        return socket.socket(family, kind, protocol)

    return make


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None], host: str) -> None:
    """Call a function in the loop, from a thread that may outlive it."""
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


# --- One request and its response

_OK = 200
_OF_SIGNATURES = tuple(
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
    """The response of a tool; the body of a 200, and that of a short problem if it explains more.

    Nothing else is read. `signed` are the headers that a signature is about, in lower case.
    """

    status: int
    retry_after: str
    body: bytes
    signed: Mapping[str, str] = field(default_factory=dict)


class NoResponseError(Exception):
    """No connection, or it broke before the response was complete. The message is for people.

    `refusal` is why the Leader does not connect to that address, which only its operator hears.
    """

    def __init__(self, message: str, refusal: str = "") -> None:
        super().__init__(message)
        self.refusal = refusal


class ResponseTooLargeError(Exception):
    """The body has more bytes than the limit."""


class ResponseMalformedError(Exception):
    """The response breaks HTTP, or has a coding that was not asked for."""


async def exchange(
    client: aiohttp.ClientSession,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    max_response_bytes: int,
) -> Response:
    """Send one request. Raises the three errors above; the caller sets the deadline.

    `Accept-Encoding: identity` is sent and another coding refused: there is nothing to inflate.
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
        raise ResponseMalformedError("the response is not HTTP as it should be") from error
    except (aiohttp.ClientError, OSError) as error:
        raise NoResponseError(_in_words(error), _refusal(error)) from error
    except UnicodeError as error:
        # Resolver and TLS write the name as IDNA has it, which not every name can be.
        raise NoResponseError("the name of the tool's host is malformed") from error


async def _read(response: aiohttp.ClientResponse, limit: int) -> Response:
    retry_after = _header(response, "Retry-After", "")[:64]
    if response.status != _OK:
        return Response(response.status, retry_after, await _problem(response))
    if _header(response, "Content-Encoding", "identity").lower() != "identity":
        raise ResponseMalformedError("the response is compressed, which was not asked for")
    if _declared_length(response) > limit:
        raise ResponseTooLargeError
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit:
            raise ResponseTooLargeError
    signed = {name: _header(response, name, "") for name in _OF_SIGNATURES}
    return Response(response.status, retry_after, bytes(body), signed)


def _abort(response: aiohttp.ClientResponse) -> None:
    """End a connection at once: TLS would wait for the end of a peer that sends on and on."""
    connection = response.connection
    if connection is not None and connection.protocol is not None:
        connection.protocol.abort()


async def _problem(response: aiohttp.ClientResponse) -> bytes:
    """The problem document of a response whose meaning does not follow from its status alone."""
    is_plain = _header(response, "Content-Encoding", "identity").lower() == "identity"
    if response.status not in protocol.EXPLAINED or not is_plain:
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
    """All that a response says under a name (RFC 9110, section 5.3)."""
    return ", ".join(response.headers.getall(name, (default,)))


def _refusal(error: BaseException | None) -> str:
    """Why the guard refused the address, if that is what is behind an error."""
    while error is not None and not isinstance(error, AddressRefused):
        error = error.__cause__
    return "" if error is None else str(error)


def _in_words(error: Exception) -> str:
    """What went wrong, without a word about addresses: it is told to everyone, on chain."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "the TLS certificate of the tool is not accepted"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "no connection to the tool"
    return "the connection to the tool broke"
