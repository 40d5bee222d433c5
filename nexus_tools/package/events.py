"""What happens to tools, leaders, invocations, workflows, executions and schedules."""

from nexus_tools.client import EventFilter
from nexus_tools.package.deployment import Deployment
from nexus_tools.package.move import (
    cleaning,
    collateral,
    dag,
    execution,
    invocation,
    leader,
    leader_registry,
    owner,
    schedule,
    tool,
    tool_registry,
    version,
)
from nexus_tools.sui.event import Event as ChainEvent

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
    | version.AnyEvent
)
"""Any event of the package."""


def parse_event(deployment: Deployment, event: ChainEvent) -> RegistryEvent | None:
    """The event as a value; None if it is not one of this package, or of a newer version of it.

    Raises `BcsError` if the bytes do not fit the event's name.
    """
    parsed: RegistryEvent | None = deployment.decoder.event(event)
    return parsed


def event_filter(deployment: Deployment, *kinds: type[RegistryEvent]) -> EventFilter:
    """A filter for these kinds of events, or for all of the package."""
    names = [kind.move_name.partition("::") for kind in kinds]
    modules = sorted({module for module, _, _ in names})
    return EventFilter(
        deployment.original_id, tuple(modules), tuple(sorted(name for _, _, name in names))
    )
