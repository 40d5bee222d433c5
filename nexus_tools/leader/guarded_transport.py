"""The HTTP client of a Leader: it connects to checked addresses only, and follows nobody.

aiohttp asks the resolver once per connection and connects to what it answers, with the name of the
URL in `Host` and in TLS (SNI and certificate). Proxies, cookies, redirects and the environment play
no part.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from typing import Any

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from httpx_aiohttp import AiohttpTransport

from nexus_tools.leader.address_guard import AddressGuard

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""From a host name to its IP addresses as text; raises `OSError` if there are none."""

MAX_HEADERS = 64
MAX_HEADER_BYTES = 8_190
_RESOLVER_THREADS = 16


class SystemResolver:
    """The operating system's resolver, in threads of its own: names of strangers can be slow."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, thread_name_prefix="resolver")

    async def __call__(self, host: str) -> Sequence[str]:
        """The addresses of `host`."""
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, _addresses, host)
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """Stop without waiting for names that nobody answers."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def guarded_client(
    guard: AddressGuard,
    resolve: Resolve,
    *,
    max_connections: int,
    tls: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """A client whose every connection passes `guard`; it has no timeouts of its own.

    `tls` says which certificates are trusted; by default those of the public authorities.
    """
    context = tls or httpx.create_ssl_context(trust_env=False)

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_GuardedResolver(guard, resolve),
            use_dns_cache=False,
            limit=max_connections,
            ssl=context,
            socket_factory=_guarded_socket_factory(guard),
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
        )

    return httpx.AsyncClient(
        transport=AiohttpTransport(verify=context, client=session, trust_env=False),
        trust_env=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        timeout=None,  # noqa: S113 - every exchange has one deadline for all of it
    )


class _GuardedResolver(AbstractResolver):
    """Answers the addresses of a name if all of them are allowed."""

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
