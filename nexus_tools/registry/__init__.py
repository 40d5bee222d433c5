"""Tools on Sui: the verbs of tools, leaders and invocations, over the objects of `package`."""

from nexus_tools.registry.administration import Administration
from nexus_tools.registry.invocation_commands import (
    add_outcome,
    add_request,
    quote_mist,
)
from nexus_tools.registry.invocation_history import History, Step
from nexus_tools.registry.invocations import (
    DEFAULT_OUTCOME_BYTES,
    InvocationFailedError,
    Invocations,
    outcome_of,
)
from nexus_tools.registry.leader_records import LeaderRecord, choose_leaders, read_records
from nexus_tools.registry.leader_registry import LeaderRegistry
from nexus_tools.registry.listing import ToolFilter, ToolPage
from nexus_tools.registry.registration import Registration
from nexus_tools.registry.schedules import NewSchedule, Schedules
from nexus_tools.registry.tool_registry import RegisteredTool, RegisterResult, ToolRegistry

__all__ = [
    "DEFAULT_OUTCOME_BYTES",
    "Administration",
    "History",
    "InvocationFailedError",
    "Invocations",
    "LeaderRecord",
    "LeaderRegistry",
    "NewSchedule",
    "RegisterResult",
    "RegisteredTool",
    "Registration",
    "Schedules",
    "Step",
    "ToolFilter",
    "ToolPage",
    "ToolRegistry",
    "add_outcome",
    "add_request",
    "choose_leaders",
    "outcome_of",
    "quote_mist",
    "read_records",
]
