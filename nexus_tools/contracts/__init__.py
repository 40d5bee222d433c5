"""The Move packages of nexus-tools from the Python side: deployments, objects, events and aborts.

`move` has the generated bindings. Start reading with `deployment`; the operations are in
`registry`.
"""

from nexus_tools.contracts.aborts import code_of, explain_abort, kind_of
from nexus_tools.contracts.compatibility import check_compatibility
from nexus_tools.contracts.compiled import (
    PACKAGE_NAMES,
    CompiledPackage,
    load_package,
    load_workflows,
    shipped_packages,
)
from nexus_tools.contracts.deployment import Deployment, PackageKind
from nexus_tools.contracts.discovery import newest, with_workflows_package
from nexus_tools.contracts.events import RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.ids import dag_id, fqn_field_id, leader_id, name_id, tool_id
from nexus_tools.contracts.ownership import require_admin, require_owner
from nexus_tools.contracts.package_client import PackageClient, Sent, execute_or_simulate
from nexus_tools.contracts.ports import make_ports, ports_of
from nexus_tools.contracts.publisher import (
    Publisher,
    PublishResult,
    UpgradeResult,
    publish,
)
from nexus_tools.contracts.upgrade_lock import (
    LockDeployment,
    PackageUpgradeState,
    UpgradeChanges,
    UpgradeLocks,
    UpgradeMode,
)
from nexus_tools.contracts.views import LeaderState, RemoteReference, ScheduleState, ToolState

__all__ = [
    "PACKAGE_NAMES",
    "CompiledPackage",
    "Deployment",
    "LeaderState",
    "LockDeployment",
    "PackageClient",
    "PackageKind",
    "PackageUpgradeState",
    "PublishResult",
    "Publisher",
    "RegistryEvent",
    "RemoteReference",
    "ScheduleState",
    "Sent",
    "ToolState",
    "UpgradeChanges",
    "UpgradeLocks",
    "UpgradeMode",
    "UpgradeResult",
    "check_compatibility",
    "code_of",
    "dag_id",
    "event_filter",
    "execute_or_simulate",
    "explain_abort",
    "fqn_field_id",
    "kind_of",
    "leader_id",
    "load_package",
    "load_workflows",
    "make_ports",
    "name_id",
    "newest",
    "parse_event",
    "ports_of",
    "publish",
    "require_admin",
    "require_owner",
    "shipped_packages",
    "tool_id",
    "with_workflows_package",
]
