"""The policy for network addresses, which is needed because an attacker may choose a tool's URL.

The form of a URL is checked first. Then its host is resolved once, every address is checked, and
the connection uses one of the checked addresses. Sources: the IANA registries of special-purpose
addresses (RFC 6890), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), RFC 4291 (IPv4 in IPv6).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from nexus_tools.errors import NotAllowedError
from nexus_tools.tool import is_host

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

_DEFAULT_PORTS = {"http": 80, "https": 443}

# The option with which operators allow the addresses of their own tools.
_OPTIONS = {
    "loopback": "--allow-loopback",
    "private": "--allow-network",
    "shared address space": "--allow-network",
}

_SPECIAL_NETWORKS: tuple[tuple[IPNetwork, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared address space"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a metadata service"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::1/128", "loopback"),
        ("::/128", "unspecified"),
        ("::ffff:0:0/96", "IPv4 in IPv6"),
        ("::/96", "IPv4 in IPv6"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("2001::/32", "Teredo"),
        ("2002::/16", "6to4"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
# All public IPv6 addresses are in 2000::/3 (RFC 4291, section 2.4). The networks listed below are
# special-purpose networks, which are not public.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_SPECIAL_GLOBAL_NETWORKS: tuple[tuple[IPNetwork, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("2620:4f:8000::/48", "reserved"),
        ("3fff::/20", "documentation"),
    )
)


class AddressRefused(NotAllowedError, OSError):  # noqa: N818 - the name states the event
    """The error for an address or URL that is not allowed.

    The class derives from `OSError`, because connection attempts raise it. `option` is the option
    that would allow the address or URL, or empty if no option does.
    """

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(
            "address_refused",
            message,
            hint=f"Pass {option} to allow it." if option else "",
        )
        self.option = option


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The policy for URLs and addresses. By default, only https to public addresses is allowed.

    `networks` and `http` extend the policy. If `ports` is empty, every port is allowed.
    """

    networks: tuple[IPNetwork, ...] = ()
    ports: frozenset[int] = frozenset()
    http: bool = False

    def check_url(self, url: str) -> None:
        """Raise `AddressRefused` if the URL is not allowed. A host name is not resolved."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise AddressRefused("the URL is malformed") from None
        self._check_form(parts)
        self._check_port(port or _DEFAULT_PORTS[parts.scheme])
        literal = _parse_address(parts.hostname or "")
        if literal is not None:
            self.check_address(literal)

    def check_address(self, address: IPAddress) -> None:
        """Raise `AddressRefused` unless connections to `address` are allowed."""
        if any(address in network for network in self.networks):
            return
        purpose = special_purpose(address)
        if purpose:
            raise AddressRefused(f"the address is not public: {purpose}", _OPTIONS.get(purpose, ""))

    def check_resolved(self, addresses: Iterable[str]) -> None:
        """Raise `AddressRefused` if `addresses` is empty, or any address is not allowed.

        One forbidden address is sufficient to refuse a name, because a legitimate name does not
        have both public and private addresses.
        """
        candidates = [ip_address(address) for address in addresses]
        if not candidates:
            raise AddressRefused("the host name does not resolve to an address")
        for address in candidates:
            self.check_address(address)

    def _check_form(self, parts: SplitResult) -> None:
        if parts.scheme != "https" and not (self.http and parts.scheme == "http"):
            option = "--allow-loopback" if _is_loopback(parts.hostname or "") else "--allow-http"
            raise AddressRefused("the URL is not https", option)
        if "@" in parts.netloc:
            raise AddressRefused("the URL has a user name or password")
        if not parts.hostname:
            raise AddressRefused("the URL has no host")
        if not is_host(parts.hostname):
            raise AddressRefused("the host of the URL is not a valid address or host name")

    def _check_port(self, port: int) -> None:
        if self.ports and port not in self.ports:
            raise AddressRefused("the port is not allowed", "--allow-port")


def special_purpose(address: IPAddress) -> str:
    """Return the special purpose of an address, or an empty string if it is public."""
    if isinstance(address, IPv6Address) and address.scope_id:
        return "scoped"
    for network, purpose in _SPECIAL_NETWORKS:
        if address in network:
            return purpose
    if isinstance(address, IPv4Address):
        return ""
    if address not in _GLOBAL_UNICAST:
        return "not global unicast"
    if _is_isatap(address):
        return "IPv4 in IPv6"
    return next(
        (purpose for network, purpose in _SPECIAL_GLOBAL_NETWORKS if address in network), ""
    )


def _is_isatap(address: IPv6Address) -> bool:
    """Return whether an address has an interface identifier that embeds an IPv4 address.

    An ISATAP identifier starts with `0000:5efe` or `0200:5efe` (RFC 5214, section 6.1).
    """
    return address.packed[8:12] in (b"\0\0\x5e\xfe", b"\2\0\x5e\xfe")


def _is_loopback(host: str) -> bool:
    literal = _parse_address(host)
    return host == "localhost" if literal is None else special_purpose(literal) == "loopback"


def _parse_address(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
