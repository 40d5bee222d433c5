"""Tools on Sui: the verbs of tools, leaders and invocations, over the objects of `package`."""

from nexus_tools.registry.invocation_history import History, Step
from nexus_tools.registry.invocations import (
    DEFAULT_OUTCOME_BYTES,
    InvocationFailedError,
    Invocations,
    add_outcome,
    add_request,
    outcome_bytes,
    outcome_of,
    quote_mist,
)
from nexus_tools.registry.leader_registry import LeaderRegistry, RegisteredLeader
from nexus_tools.registry.listing import ToolFilter, ToolPage
from nexus_tools.registry.registration import Registration
from nexus_tools.registry.tool_registry import RegisteredTool, RegisterResult, ToolRegistry

__all__ = [
    "DEFAULT_OUTCOME_BYTES",
    "History",
    "InvocationFailedError",
    "Invocations",
    "LeaderRegistry",
    "RegisterResult",
    "RegisteredLeader",
    "RegisteredTool",
    "Registration",
    "Step",
    "ToolFilter",
    "ToolPage",
    "ToolRegistry",
    "add_outcome",
    "add_request",
    "outcome_bytes",
    "outcome_of",
    "quote_mist",
]
