"""Networks: the URLs of a node and its faucet."""

import shlex
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import UsageError

MAX_GAS_PRICE_MIST = 10_000
"""The highest reference gas price that a client accepts by default, in MIST per unit.

Since 2023, validators of Sui's mainnet have set prices between 500 and 1 000, and those of testnet
and devnet 1 000, like the localnet. Ten times the highest price leaves a margin for an expensive
epoch. A dishonest node can cost a user ten times the usual gas, instead of the 50 000 000 times
that the protocol allows.
"""


class Network(Struct, frozen=True):
    """A Sui network by name, with the URL of a node that serves gRPC.

    `faucet_url` is the root of a faucet, if the network has one. `chain_id` is the digest of the
    first checkpoint in base58. If it is set, a client rejects a node of another chain. A client
    also rejects a node that reports a gas price above `max_gas_price_mist`, because each
    transaction pays it. `has_profile` means that this machine's settings resolve the name to this
    network, so hints can use the name in commands. A localnet that a program starts has no profile:
    its name may resolve to another localnet.
    """

    name: str
    url: str
    faucet_url: str | None = None
    chain_id: str | None = None
    has_profile: bool = False
    max_gas_price_mist: int = MAX_GAS_PRICE_MIST

    @property
    def is_localnet(self) -> bool:
        """Whether the node is a localnet (its own faucet), with tools on this machine."""
        return self.url == self.faucet_url

    @property
    def quoted_name(self) -> str:
        """The name, quoted for a shell command."""
        return shlex.quote(self.name)

    def with_gas_price_limit(self, limit_mist: int | None) -> "Network":
        """Return the network with another gas price limit; None keeps the current one."""
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
