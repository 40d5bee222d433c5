"""Tools on Sui: a registry on chain, a client, a Leader that carries invocations, a localnet.

What most programs need is offered here, and imported when it is first used.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names
from nexus_tools.version import __version__

if TYPE_CHECKING:
    from nexus_tools.client import KeyPair
    from nexus_tools.errors import NexusError
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import InvocationFailedError, OutputInvalidError
    from nexus_tools.tool import Answer, Failure, Outcome

__all__ = [
    "Answer",
    "Failure",
    "InvocationFailedError",
    "KeyPair",
    "Nexus",
    "NexusError",
    "Outcome",
    "OutputInvalidError",
    "__version__",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "client": ("KeyPair",),
        "errors": ("NexusError",),
        "nexus": ("Nexus",),
        "registry": ("InvocationFailedError", "OutputInvalidError"),
        "tool": ("Answer", "Failure", "Outcome"),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
