"""The server of the API in an event loop."""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address, ip_network
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from nexus_tools.errors import UsageError
from nexus_tools.http.embedded_server import serve_embedded

# Longer than the 5 s of many clients, which would otherwise use a connection while it is closed,
# and shorter than the time for request headers.
_KEEP_ALIVE_S = 9


class ClosableApp(Protocol):
    """An ASGI application whose streams end when it is closed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

    def close(self) -> None:
        """End the streams."""


@asynccontextmanager
async def serve_api(
    api: ClosableApp,
    listener: socket.socket,
    *,
    trusted_proxies: Sequence[str] = (),
    **options: Any,
) -> AsyncIterator[None]:
    """Serve the API, or an application that contains it, on a listening socket during the context.

    The client of a request from a trusted proxy is the last address in `X-Forwarded-For` that is
    not a trusted proxy. Other clients cannot choose their address. `options` are passed to
    `uvicorn.Config`.

    Raises:
        UsageError: `proxy_invalid` or `tls_files_invalid`.
    """
    with listener:
        proxies = [_network(proxy) for proxy in trusted_proxies]
        settings = {
            "lifespan": "off",
            "proxy_headers": bool(proxies),
            "forwarded_allow_ips": proxies,
            "timeout_keep_alive": _KEEP_ALIVE_S,
        }
        async with serve_embedded(api, listener, **settings, **options):
            try:
                yield
            finally:
                api.close()


def is_public(listener: socket.socket) -> bool:
    """Return whether other machines can reach a listening socket."""
    return not ip_address(listener.getsockname()[0]).is_loopback


def _network(text: str) -> str:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise UsageError(
            "proxy_invalid",
            f"{text[:80]!r} is not the IP address or network of a proxy",
            hint="Pass an address such as 127.0.0.1, or a network such as 10.0.0.0/8.",
        ) from error
    return str(network) if network.num_addresses > 1 else str(network.network_address)
