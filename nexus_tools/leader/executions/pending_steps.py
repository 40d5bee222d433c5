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
    """Iterations that are ready to be requested.

    `head` has the vertex at which they start, and the path of the region around them.
    """

    head: Run


@dataclass(frozen=True, slots=True)
class RegionEmptied:
    """A region without live runs, whose results are ready to be gathered."""

    region: Instance


@dataclass(frozen=True, slots=True)
class InvocationClosed:
    """A closed or expired invocation, whose outcome the execution has not accepted yet."""

    invocation: Address


@dataclass(frozen=True, slots=True)
class CallDue:
    """A function that anyone may call, and that may be due.

    If the execution is stopping, the invocation is failed instead of calling the function.
    """

    invocation: Address
    tool: Address


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The deadline of the execution, after which it can be expired."""


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
