"""Networks: the URLs of a node and its faucet."""

import shlex
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import UsageError

MAX_GAS_PRICE_MIST = 10_000
"""The highest reference gas price that a client accepts by default, in MIST per unit.

Since 2023, the price on mainnet has been between 500 and 1 000. On testnet, devnet and localnets,
the price is 1 000. The limit is ten times the highest price, which leaves a margin for expensive
epochs. With this limit, a dishonest node can make a user pay at most ten times the usual gas. The
protocol alone would allow 50 000 000 times the usual gas.
"""


class Network(Struct, frozen=True):
    """A Sui network: its name, and the URL of a node that serves gRPC.

    `faucet_url` is the root URL of a faucet, or None. `chain_id` is the digest of the first
    checkpoint in base58. If `chain_id` is set, a client rejects a node of another chain. A client
    also rejects a node that reports a gas price above `max_gas_price_mist`, because the user pays
    that price.

    `has_profile` means that this machine's settings resolve the name to this network, so hints can
    contain commands with the name. A localnet that a program starts does not have a profile,
    because its name may resolve to another localnet.
    """

    name: str
    url: str
    faucet_url: str | None = None
    chain_id: str | None = None
    has_profile: bool = False
    max_gas_price_mist: int = MAX_GAS_PRICE_MIST

    @property
    def is_localnet(self) -> bool:
        """Whether the node is a localnet, which serves its own faucet at the same URL."""
        return self.url == self.faucet_url

    @property
    def quoted_name(self) -> str:
        """The name, quoted for a shell command."""
        return shlex.quote(self.name)

    def with_gas_price_limit(self, limit_mist: int | None) -> "Network":
        """Return the network with another gas price limit, or unchanged if the limit is None."""
        if limit_mist is None:
            return self
        return replace(self, max_gas_price_mist=limit_mist)

    def endpoint(self) -> "Endpoint":
        """Return the host, port and TLS setting of the node. Raises `network_url_invalid`."""
        return Endpoint.parse(self.url)


class Endpoint(Struct, frozen=True):
    """A host and port to connect to, with or without TLS."""

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, url: str) -> "Endpoint":
        """Parse `http://host[:port]` or `https://host[:port]`. Raises `network_url_invalid`."""
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
"""The well-known networks, by name."""


def _bad_url(url: str) -> UsageError:
    return UsageError(
        "network_url_invalid",
        f"{url[:200]!r} is not a valid node URL",
        hint="Write http://host:port or https://host:port.",
    )
