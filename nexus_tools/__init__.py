"""Tools on Sui: a registry on chain, a client, a Leader that carries invocations, a localnet.

What most programs need is offered here, and imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from nexus_tools.version import __version__

if TYPE_CHECKING:
    from nexus_tools.client import KeyPair
    from nexus_tools.errors import NexusError
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import InvocationFailedError
    from nexus_tools.tool import Answer, Failure, Outcome

__all__ = [
    "Answer",
    "Failure",
    "InvocationFailedError",
    "KeyPair",
    "Nexus",
    "NexusError",
    "Outcome",
    "__version__",
]

_ROOMS = {
    "Answer": "nexus_tools.tool",
    "Failure": "nexus_tools.tool",
    "InvocationFailedError": "nexus_tools.registry",
    "KeyPair": "nexus_tools.client",
    "Nexus": "nexus_tools.nexus",
    "NexusError": "nexus_tools.errors",
    "Outcome": "nexus_tools.tool",
}


def __getattr__(name: str) -> object:
    """What a room offers, from then on as an attribute like any other."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_ROOMS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
