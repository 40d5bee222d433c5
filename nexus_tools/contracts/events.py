"""What happens to tools, leaders, invocations, workflows, executions and schedules."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from nexus_tools.contracts.deployment import Deployment, is_of_workflows
from nexus_tools.contracts.move_bindings import (
    collateral,
    invocation,
    leader,
    leader_registry,
    owner,
    permit,
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
    """The event as a value; None if it is not one of this package, or of a newer version of it.

    Raises `BcsError` if the bytes do not fit the event's name.
    """
    parsed: RegistryEvent | None = deployment.decoder.event(event)
    return parsed


def event_filter(deployment: Deployment, *kinds: type[RegistryEvent]) -> EventFilter:
    """A filter for these kinds of events, or for all of the packages.

    Without the package of workflows nothing of its kinds is asked for. Raises `workflows_unknown`
    if there are no others.
    """
    if not kinds:
        return _together(EventFilter(package.original_id) for _, package in deployment.packages)
    of_tools = [kind for kind in kinds if not is_of_workflows(kind)]
    of_workflows = [kind for kind in kinds if is_of_workflows(kind)]
    if of_tools and deployment.workflows_id is None:
        of_workflows = []
    return _together(
        _of_kinds(deployment.package_of(some[0]), some) for some in (of_tools, of_workflows) if some
    )


def _of_kinds(package: Package, kinds: Sequence[type[RegistryEvent]]) -> EventFilter:
    names = [kind.move_name.partition("::") for kind in kinds]
    modules = {module for module, _, _ in names}
    return EventFilter(
        package.original_id,
        tuple(sorted(modules)),
        tuple(sorted(name for _, _, name in names)),
    )


def _together(filters: Iterable[EventFilter]) -> EventFilter:
    return reduce(or_, filters)
