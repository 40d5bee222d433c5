"""The runs of an execution, the references to their input values, and the events."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.workflow.document.document import AFTER, InputPort, OutputPort


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """One use of a vertex.

    `path` has a number for each block around the vertex, outermost first. The number is the
    iteration of a region or the round of a loop, counted from 0. Outside all blocks, `path` is
    empty.
    """

    vertex: str
    path: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.vertex}[{','.join(map(str, self.path))}]" if self.path else self.vertex


# --- References to values


@dataclass(frozen=True, slots=True)
class GivenValue:
    """A value that the caller passes for an entry port, or the default value of a port."""

    target: InputPort


@dataclass(frozen=True, slots=True)
class Reference:
    """A port in the outcome of a run, or one element of the port's list."""

    run: Run
    port: str
    element: int | None = None


@dataclass(frozen=True, slots=True)
class CollectedList:
    """The list that a region gathered for a port. `path` is the path around the region."""

    block: int
    path: tuple[int, ...]
    target: InputPort


Value = GivenValue | Reference | CollectedList


# --- Events


@dataclass(frozen=True, slots=True)
class RunSettled:
    """The answer with which a run ends.

    `lengths` has each port, with a length if its value is a list.
    """

    variant: str
    lengths: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The failure of a run. `is_refusal` is whether the chain refused to request the run."""

    reason: str
    detail: str = ""
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class GroupStarted:
    """The start of the execution with the vertices of an entry group."""

    group: str


@dataclass(frozen=True, slots=True)
class RunRequested:
    """The request of a ready run, which is then in flight."""

    run: Run


@dataclass(frozen=True, slots=True)
class RunClosed:
    """The outcome of a run that was in flight."""

    run: Run
    outcome: RunSettled | RunFailed


@dataclass(frozen=True, slots=True)
class ExecutionCancelled:
    """The cancellation of the execution by its owner."""


@dataclass(frozen=True, slots=True)
class ExecutionTimedOut:
    """The expiry of the execution's deadline."""


Event = GroupStarted | RunRequested | RunClosed | ExecutionCancelled | ExecutionTimedOut


# --- Effects


class Status(StrEnum):
    """The status of an execution."""

    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_FAILURES = "completed_with_failures"
    TERMINATED = "terminated"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class WalkFailure:
    """A failure that no edge handles, so it skips the dependent runs or ends the execution.

    `reason` is the reason of the run's last attempt, or `port_missing`, `not_a_list` or
    `input_conflict`. `port_missing` means that the variant lacks the port of an edge. `not_a_list`
    means that a port with a `for_each` edge is not a list. `input_conflict` means that a port of
    this run, or of all runs of the vertex below this path, received a second value.
    """

    run: Run
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of an event, with the runs that became ready, the failures, and the new status."""

    ready: tuple[Run, ...]
    failures: tuple[WalkFailure, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Result:
    """A result value of the execution. `name` is the name of its output, or empty."""

    source: OutputPort
    value: Reference
    name: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that did not start because the values of the ports in `missing` did not arrive.

    If a whole region waits, the path of `run` ends before the region's number.
    """

    run: Run
    missing: tuple[str, ...]

    @property
    def message(self) -> str:
        """The description of the starved run for users."""
        ports = [port for port in self.missing if port != AFTER]
        lacking = [f"{', '.join(ports)} received no value"] if ports else []
        if AFTER in self.missing:
            lacking.append("the step before it did not run")
        return f"{self.run} did not start: {', and '.join(lacking)}"
