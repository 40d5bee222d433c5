"""The check of `Host` and `Origin` headers for local HTTP servers.

A browser lets any web page send requests to a server on this machine. It names the page's origin in
`Origin`. A page can also have its own name resolve to a loopback address (DNS rebinding). Then its
requests count as same-origin, and only `Host` shows the foreign name.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct

from nexus_tools.sui.support.untrusted_text import one_line

_MAX_SHOWN = 100


class AllowedSources(Struct, frozen=True):
    """The host names of a server, and the origins of pages that may use it.

    Loopback names and IP addresses are always allowed as hosts, because rebinding needs a DNS name.
    Pages of loopback origins are always allowed, because developers serve their own pages there. A
    host is `name` for any port, or `name:port`. An origin is `https://name[:port]`.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Self:
        """Normalize hosts and origins as users write them."""
        host_names = (host.lower().removesuffix(":*") for host in hosts)
        return cls(
            frozenset(host_names), frozenset(origin.lower().rstrip("/") for origin in origins)
        )

    def refusal(self, host: str | None, origin: str | None) -> str | None:
        """Return why a request with these headers is refused and how to allow it, or None."""
        if not self.allows_host((host or "").lower()):
            header = one_line(host or "", _MAX_SHOWN)
            return (
                f"the host {header!r} is not allowed: use the address 127.0.0.1,"
                " or start the server with --allow-host NAME"
            )
        if origin is not None and not self._allows_origin(origin.lower()):
            header = one_line(origin, _MAX_SHOWN)
            return (
                f"pages of the origin {header!r} are not allowed:"
                " start the server with --allow-origin ORIGIN"
            )
        return None

    def allows_host(self, host: str) -> bool:
        """Return whether requests with this `Host` header, in lower case, are served."""
        name = _name(f"//{host}")
        return name is not None and (
            host in self.hosts or name in self.hosts or is_loopback(name) or _is_address(name)
        )

    def _allows_origin(self, origin: str) -> bool:
        name = _name(origin)
        return origin in self.origins or (name is not None and is_loopback(name))


_UNNAMED = AllowedSources()


@lru_cache(64)
def is_local_host(host: str) -> bool:
    """Return whether a `Host` header names this machine by an address or a loopback name.

    A loopback server without configured hosts refuses all others, because they come from web pages.
    """
    return _UNNAMED.allows_host(host.lower())


def is_loopback(name: str) -> bool:
    """Return whether a host name is a loopback name: `localhost`, `127.0.0.1`, `::1`."""
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761, section 6.3
        return True
    return _is_address(name) and ip_address(name).is_loopback


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name(url: str) -> str | None:
    """Return the host of a URL that consists only of a scheme, a host and a port, or None."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    is_bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.hostname if has_port and is_bare and parts.hostname else None
