"""A check of `Host` and `Origin` headers for local HTTP servers.

A browser allows any web page to send requests to a server on this machine. The header `Origin`
contains the page's origin. In a DNS rebinding attack, the host name of a page resolves to a
loopback address. The page's requests then count as same-origin, and only the header `Host` shows
the attacker's host name.
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
    """The host names of a server, and the origins of web pages that may use the server.

    Loopback names and IP addresses are always allowed as hosts, because DNS rebinding needs another
    name. Pages from loopback origins are always allowed, because they are the developer's own
    pages. A host is written as `name`, which allows any port, or as `name:port`. An origin is
    written as `https://name[:port]`.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Self:
        """Create the allowed sources from hosts and origins that a user entered."""
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
                f"web pages from the origin {header!r} are not allowed:"
                " start the server with --allow-origin ORIGIN"
            )
        return None

    def allows_host(self, host: str) -> bool:
        """Return whether a `Host` header, in lower case, is allowed."""
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
    """Return whether a `Host` header contains an IP address or a loopback name.

    A loopback server without configured hosts must refuse all other hosts, because requests with
    other hosts come from web pages.
    """
    return _UNNAMED.allows_host(host.lower())


def is_loopback(name: str) -> bool:
    """Return whether a host name is a loopback name, such as `localhost`, `127.0.0.1` or `::1`."""
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
    """Return the host of a URL, or None if the URL is not just a scheme, a host and a port."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    is_bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return parts.hostname if has_port and is_bare and parts.hostname else None
