"""The kinds of pending steps of an execution. The chain skips steps that are already done."""

from dataclasses import dataclass
from typing import TypeAlias

from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.records import Instance
from nexus_tools.sui.types.address import Address


@dataclass(frozen=True, slots=True)
class RunReady:
    """A run that is ready to be requested."""

    run: Run


@dataclass(frozen=True, slots=True)
class IterationsReady:
    """Iterations of a region that are ready to be requested.

    `head` contains the vertex at which the iterations start, and the path of the region.
    """

    head: Run


@dataclass(frozen=True, slots=True)
class RegionEmptied:
    """A region without active runs, whose results are ready to be gathered."""

    region: Instance


@dataclass(frozen=True, slots=True)
class InvocationClosed:
    """A closed or expired invocation, whose outcome the execution has not accepted yet."""

    invocation: Address


@dataclass(frozen=True, slots=True)
class CallDue:
    """A call of a function that anyone may call, at the time at which the call may be due.

    If the execution is stopping, the invocation is failed instead of calling the function.
    """

    invocation: Address
    tool: Address


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The deadline of the execution, after which anyone can expire the execution."""


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
