"""Networks: where a node and its faucet answer."""

import shlex
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import UsageError

MAX_GAS_PRICE_MIST = 10_000
"""The highest reference gas price that a client accepts by default, in MIST per unit.

Since 2023, validators of Sui's mainnet have set prices between 500 and 1 000, and those of testnet
and devnet 1 000, as the localnet has. Ten times the highest of them leaves room for an expensive
epoch. A node that lies can cost a user ten times the usual gas, and not the 50 000 000 times that
the protocol allows.
"""


class Network(Struct, frozen=True):
    """A Sui network by name, with the URL of a node that speaks gRPC.

    `faucet_url` is the root of a faucet, where there is one. `chain_id` is the digest of the first
    checkpoint in base58; where it is given, a client refuses a node of another chain. It also
    refuses a node that reports a gas price above `max_gas_price_mist`, as each transaction pays it.
    With `has_profile`, the settings of this machine lead from the name to this network: hints name
    it in commands. The name of a localnet in a program leads to another one, if to any.
    """

    name: str
    url: str
    faucet_url: str | None = None
    chain_id: str | None = None
    has_profile: bool = False
    max_gas_price_mist: int = MAX_GAS_PRICE_MIST

    @property
    def is_localnet(self) -> bool:
        """Whether the node is a localnet, which is its own faucet: tools are on this machine."""
        return self.url == self.faucet_url

    @property
    def quoted_name(self) -> str:
        """Return the name as a word of a shell command."""
        return shlex.quote(self.name)

    def with_gas_price_limit(self, limit_mist: int | None) -> "Network":
        """Return the network with another limit for the gas price, unless that is None."""
        if limit_mist is None:
            return self
        return replace(self, max_gas_price_mist=limit_mist)

    def endpoint(self) -> "Endpoint":
        """Host, port and TLS of the node. Raises `network_url_invalid`."""
        return Endpoint.parse(self.url)


class Endpoint(Struct, frozen=True):
    """Where to connect to, and whether with TLS."""

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, url: str) -> "Endpoint":
        """Read `http://host[:port]` or `https://host[:port]`. Raises `network_url_invalid`."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise _bad_url(url)
        tls = parts.scheme == "https"
        try:
            return cls(parts.hostname, parts.port or (443 if tls else 80), tls)
        except ValueError:
            raise _bad_url(url) from None


LOCALNET = Network("localnet", "http://127.0.0.1:9000", "http://127.0.0.1:9000")
DEVNET = Network(
    "devnet", "https://fullnode.devnet.sui.io:443", "https://faucet.devnet.sui.io", has_profile=True
)
TESTNET = Network(
    "testnet",
    "https://fullnode.testnet.sui.io:443",
    "https://faucet.testnet.sui.io",
    has_profile=True,
)
MAINNET = Network("mainnet", "https://fullnode.mainnet.sui.io:443", has_profile=True)

NETWORKS = {network.name: network for network in (LOCALNET, DEVNET, TESTNET, MAINNET)}
"""The networks that everyone knows, by name."""


def _bad_url(url: str) -> UsageError:
    return UsageError(
        "network_url_invalid",
        f"{url[:200]!r} is not the URL of a node",
        hint="write http://host:port or https://host:port",
    )
