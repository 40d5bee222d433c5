"""The kinds of pending steps of an execution. The chain skips steps that are already done."""

from dataclasses import dataclass
from typing import TypeAlias

from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.records import Instance
from nexus_tools.sui.types.address import Address


@dataclass(frozen=True, slots=True)
class RunReady:
    """A run to request."""

    run: Run


@dataclass(frozen=True, slots=True)
class IterationsReady:
    """Iterations to request that start at a vertex; the path is that of the region around them."""

    head: Run


@dataclass(frozen=True, slots=True)
class RegionEmptied:
    """A region to gather."""

    region: Instance


@dataclass(frozen=True, slots=True)
class InvocationClosed:
    """An invocation, closed or expired, whose outcome the execution accepts next."""

    invocation: Address


@dataclass(frozen=True, slots=True)
class CallDue:
    """A function to call that anyone may call, because its time may have come.

    In an execution that stops, its invocation is failed instead.
    """

    invocation: Address
    tool: Address


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """An execution to expire."""


@dataclass(frozen=True, slots=True)
class FullRescan:
    """A full read of the records, because the pending steps are unknown."""


PendingStep: TypeAlias = (
    RunReady
    | IterationsReady
    | RegionEmptied
    | InvocationClosed
    | CallDue
    | DeadlinePassed
    | FullRescan
)
