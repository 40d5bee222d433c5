"""Tools on Sui: the Move package seen from Python, its objects, events, aborts, calls and verbs."""

from nexus_tools.registry.aborts import ABORTS, AbortReason, abort_reason, explain_abort
from nexus_tools.registry.events import RegistryEvent, event_filter, parse_event
from nexus_tools.registry.ids import owner_cap_id, responsible, tool_id
from nexus_tools.registry.invocations import (
    DEFAULT_OUTCOME_BYTES,
    Invocations,
    add_outcome,
    add_request,
    outcome_bytes,
    quote_mist,
)
from nexus_tools.registry.leader_registry import LeaderRegistry, RegisteredLeader
from nexus_tools.registry.listing import ToolFilter
from nexus_tools.registry.objects import (
    Invocation,
    LeaderSettings,
    Ports,
    Tool,
    ToolSettings,
    ToolState,
)
from nexus_tools.registry.package import (
    CompiledPackage,
    Deployment,
    load_package,
    publish,
    upgrade,
)
from nexus_tools.registry.package_client import PackageClient, Sent
from nexus_tools.registry.publisher import Publisher, PublishResult, UpgradeResult, newest
from nexus_tools.registry.registration import Registration
from nexus_tools.registry.times import duration, utc
from nexus_tools.registry.tool_registry import RegisteredTool, RegisterResult, ToolRegistry

__all__ = [
    "ABORTS",
    "DEFAULT_OUTCOME_BYTES",
    "AbortReason",
    "CompiledPackage",
    "Deployment",
    "Invocation",
    "Invocations",
    "LeaderRegistry",
    "LeaderSettings",
    "PackageClient",
    "Ports",
    "PublishResult",
    "Publisher",
    "RegisterResult",
    "RegisteredLeader",
    "RegisteredTool",
    "Registration",
    "RegistryEvent",
    "Sent",
    "Tool",
    "ToolFilter",
    "ToolRegistry",
    "ToolSettings",
    "ToolState",
    "UpgradeResult",
    "abort_reason",
    "add_outcome",
    "add_request",
    "duration",
    "event_filter",
    "explain_abort",
    "load_package",
    "newest",
    "outcome_bytes",
    "owner_cap_id",
    "parse_event",
    "publish",
    "quote_mist",
    "responsible",
    "tool_id",
    "upgrade",
    "utc",
]
