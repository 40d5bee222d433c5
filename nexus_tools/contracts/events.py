"""Events of tools, leaders, invocations, workflows, executions and schedules."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from nexus_tools.contracts.deployment import Deployment, is_workflows_binding
from nexus_tools.contracts.move_bindings import (
    collateral,
    invocation,
    leader,
    leader_registry,
    owner,
    permit,
    settlement,
    tool,
    tool_registry,
    version,
)
from nexus_tools.contracts.move_bindings.workflows import (
    cleaning,
    dag,
    dag_registry,
    execution,
    schedule,
)
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.client import EventFilter
from nexus_tools.sui.types.event import Event as ChainEvent

RegistryEvent = (
    tool.AnyEvent
    | leader.AnyEvent
    | collateral.AnyEvent
    | owner.AnyEvent
    | tool_registry.AnyEvent
    | leader_registry.AnyEvent
    | invocation.AnyEvent
    | settlement.AnyEvent
    | dag.AnyEvent
    | execution.AnyEvent
    | cleaning.AnyEvent
    | schedule.AnyEvent
    | dag_registry.AnyEvent
    | permit.AnyEvent
    | version.AnyEvent
)
"""Any event of the packages."""


def parse_event(deployment: Deployment, event: ChainEvent) -> RegistryEvent | None:
    """Return the parsed event. Return None if another package or a newer version defines it.

    Raises `BcsError` if the bytes do not match the event's type.
    """
    parsed: RegistryEvent | None = deployment.decoder.event(event)
    return parsed


def event_filter(deployment: Deployment, *kinds: type[RegistryEvent]) -> EventFilter:
    """Return a filter for events of these kinds, or without kinds for all events of the packages.

    If the package of workflows is not published, the filter omits the events of that package.
    Raises `workflows_unknown` if no kinds of events remain.
    """
    if not kinds:
        return _union(EventFilter(package.original_id) for _, package in deployment.packages)
    of_tools = [kind for kind in kinds if not is_workflows_binding(kind)]
    of_workflows = [kind for kind in kinds if is_workflows_binding(kind)]
    if of_tools and deployment.workflows_id is None:
        of_workflows = []
    return _union(
        _of_kinds(deployment.package_of(group[0]), group)
        for group in (of_tools, of_workflows)
        if group
    )


def _of_kinds(package: Package, kinds: Sequence[type[RegistryEvent]]) -> EventFilter:
    names = [kind.move_name.partition("::") for kind in kinds]
    modules = {module for module, _, _ in names}
    return EventFilter(
        package.original_id,
        tuple(sorted(modules)),
        tuple(sorted(name for _, _, name in names)),
    )


def _union(filters: Iterable[EventFilter]) -> EventFilter:
    return reduce(or_, filters)
