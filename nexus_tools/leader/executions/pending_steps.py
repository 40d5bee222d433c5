"""What may be left to do in an execution. What the chain finds done already, it passes over."""

from dataclasses import dataclass
from typing import TypeAlias

from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.records import Instance
from nexus_tools.sui.types.address import Address


@dataclass(frozen=True, slots=True)
class RunReady:
    """A run is to be requested."""

    run: Run


@dataclass(frozen=True, slots=True)
class IterationsReady:
    """Iterations that begin with a vertex are to be requested; the path is around the region."""

    head: Run


@dataclass(frozen=True, slots=True)
class RegionEmptied:
    """A region is to be gathered."""

    region: Instance


@dataclass(frozen=True, slots=True)
class InvocationClosed:
    """The execution is to go on with an invocation, which is closed, or expires by that."""

    invocation: Address


@dataclass(frozen=True, slots=True)
class CallDue:
    """The function of a tool is to be called that anyone may call: its time may have come.

    In an execution that stops, the invocation is to be failed.
    """

    invocation: Address
    tool: Address


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The execution is to expire."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The records are to be read: what is left to do is not known."""


Todo: TypeAlias = (
    RunReady
    | IterationsReady
    | RegionEmptied
    | InvocationClosed
    | CallDue
    | DeadlinePassed
    | Unknown
)
