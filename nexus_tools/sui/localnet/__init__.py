"""A local Sui network in one process, with the genuine framework and its own Move machine.

`Localnet` is the network, and `ThreadedLocalnet` runs a network in a thread. Start reading with
`localnet.py`, then `node/node.py`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.genesis import Origin
    from nexus_tools.sui.localnet.localnet import Localnet
    from nexus_tools.sui.localnet.threaded import ThreadedLocalnet

__all__ = ["Localnet", "Origin", "ThreadedLocalnet"]


def __getattr__(name: str) -> Any:
    """Import a class on first use, because inner packages are used without the server."""
    if name == "Localnet":
        from nexus_tools.sui.localnet.localnet import Localnet  # noqa: PLC0415

        return Localnet
    if name == "Origin":
        from nexus_tools.sui.localnet.genesis import Origin  # noqa: PLC0415

        return Origin
    if name == "ThreadedLocalnet":
        from nexus_tools.sui.localnet.threaded import ThreadedLocalnet  # noqa: PLC0415

        return ThreadedLocalnet
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
