"""Make a tool: `@tool` on a function, `Variant` for each answer, `serving` or `serve` to serve it.

What serves is imported when it is first asked for: the tests of an author need no web server.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names
from nexus_tools.toolkit.authoring import FunctionTool, tool
from nexus_tools.toolkit.tool import (
    Authorize,
    Call,
    Health,
    NotAuthorizedError,
    NotReadyError,
    Tool,
)
from nexus_tools.toolkit.variant import Variant

if TYPE_CHECKING:
    from nexus_tools.toolkit.conformance import Check, FailedError, Probe, Status, check_tool
    from nexus_tools.toolkit.hosting import run, serve, serving
    from nexus_tools.toolkit.invoke import Limits
    from nexus_tools.toolkit.loading import load, load_module
    from nexus_tools.toolkit.nonces import MemoryNonces, Nonces, SqliteNonces
    from nexus_tools.toolkit.recent import RecentInvocations
    from nexus_tools.toolkit.server import ToolServer
    from nexus_tools.toolkit.signatures import SignatureMode, Signatures
    from nexus_tools.toolkit.taken_answers import TakenAnswers

__all__ = [
    "Authorize",
    "Call",
    "Check",
    "FailedError",
    "FunctionTool",
    "Health",
    "Limits",
    "MemoryNonces",
    "Nonces",
    "NotAuthorizedError",
    "NotReadyError",
    "Probe",
    "RecentInvocations",
    "SignatureMode",
    "Signatures",
    "SqliteNonces",
    "Status",
    "TakenAnswers",
    "Tool",
    "ToolServer",
    "Variant",
    "check_tool",
    "load",
    "load_module",
    "run",
    "serve",
    "serving",
    "tool",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "conformance": ("Check", "FailedError", "Probe", "Status", "check_tool"),
        "hosting": ("run", "serve", "serving"),
        "invoke": ("Limits",),
        "loading": ("load", "load_module"),
        "nonces": ("MemoryNonces", "Nonces", "SqliteNonces"),
        "recent": ("RecentInvocations",),
        "server": ("ToolServer",),
        "signatures": ("SignatureMode", "Signatures"),
        "taken_answers": ("TakenAnswers",),
    },
)
