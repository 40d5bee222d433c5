"""The network and the key that a program means, by name or as objects of this machine."""

from typing import Any, Protocol

from nexus_tools.errors import UsageError
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import Signer, network_and_key
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address


class HasUrl(Protocol):
    """A network of which only the URL is known, where the faucet is, too: a localnet."""

    @property
    def url(self) -> str:
        """Where its node listens."""


Where = str | Network | HasUrl | None
"""A network: its name, itself, a localnet, a `pysui.PysuiConfiguration`; None: the settings'."""

Who = str | Address | Signer | None
"""A key: itself, or its alias or address in the keystore of this machine."""


def select_network(where: Any, who: Who) -> tuple[Network, Signer | None]:
    """Return the network and the key that are meant. Raises `argument_invalid`."""
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
        raise UsageError("argument_invalid", f"a network is {known}, not {where!r:.80}")
    if not (who is None or isinstance(who, str | bytes) or hasattr(who, "sign")):
        known = "a KeyPair or another Signer, an alias, or an Address"
        raise UsageError("argument_invalid", f"a key is {known}, not {who!r:.80}")
    return network, Settings.load().find_key(who) if isinstance(who, str | bytes) else who
