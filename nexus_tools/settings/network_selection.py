"""Resolution of the network and the key that a program passes, as names or as objects."""

from typing import Any, Protocol

from nexus_tools.errors import UsageError
from nexus_tools.settings.settings import Settings
from nexus_tools.settings.signers import is_signer_url, open_signer
from nexus_tools.sui.keystore import Signer, network_and_key
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address


class HasUrl(Protocol):
    """A network that has only a URL, such as a localnet. The node and the faucet share the URL."""

    @property
    def url(self) -> str:
        """The URL of the network's node."""


NetworkLike = str | Network | HasUrl | None
"""A network: its name, a `Network`, a localnet, or a `pysui.PysuiConfiguration`. None selects the
network of the settings."""

KeySelector = str | Address | Signer | None
"""A signer, the URL of a signer, or the alias or address of a key on this machine. None means that
no key is used."""


def resolve_network_and_key(where: Any, who: KeySelector) -> tuple[Network, Signer | None]:
    """Resolve a network and a key. Raises `argument_invalid`."""
    if isinstance(where, Network):
        network = where
    elif where is None or isinstance(where, str):
        network = Settings.load().find_network(where)
    elif isinstance(url := getattr(where, "url", None), str) and not hasattr(where, "active_group"):
        network = Network("localnet", url, url)
    elif hasattr(where, "active_group"):
        network, active = network_and_key(where)
        who = active if who is None else who
    else:
        known = "the name of a network, a Network, a localnet, or a PysuiConfiguration"
        raise UsageError("argument_invalid", f"expected {known}, got {where!r:.80}")
    if not (who is None or isinstance(who, str | bytes) or hasattr(who, "sign")):
        known = "a KeyPair or another Signer, an alias, or an Address"
        raise UsageError("argument_invalid", f"expected {known}, got {who!r:.80}")
    if isinstance(who, str) and is_signer_url(who):
        return network, open_signer(who)
    return network, Settings.load().find_key(who) if isinstance(who, str | bytes) else who
