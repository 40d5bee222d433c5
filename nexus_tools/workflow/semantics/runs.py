"""What happens in an execution: runs, the values that they take, and events."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.workflow.document.document import AFTER, InputPort, OutputPort


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """One use of a vertex.

    `path` has a number for each block around the vertex, outermost first: the iteration of a
    region, the round of a loop, both from 0. Outside all blocks it is empty.
    """

    vertex: str
    path: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.vertex}[{','.join(map(str, self.path))}]" if self.path else self.vertex


# --- Values, by reference


@dataclass(frozen=True, slots=True)
class Given:
    """The value that the caller gave for an entry port, or the default value of a port."""

    target: InputPort


@dataclass(frozen=True, slots=True)
class Reference:
    """A port of what a run came to, or one element of the list that it is."""

    run: Run
    port: str
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Collected:
    """The list that a region gathered for a port: the block's number, and the path around it."""

    block: int
    path: tuple[int, ...]
    target: InputPort


Value = Given | Reference | Collected


# --- Events


@dataclass(frozen=True, slots=True)
class Settled:
    """A run came to an answer: `lengths` has each port, with a length if it is a list."""

    variant: str
    lengths: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Failed:
    """A run came to none; `is_refusal` if the chain did not request it."""

    reason: str
    detail: str = ""
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """The execution begins with the vertices of an entry group."""

    group: str


@dataclass(frozen=True, slots=True)
class Requested:
    """A ready run is under way."""

    run: Run


@dataclass(frozen=True, slots=True)
class Closed:
    """A run that was under way has an outcome."""

    run: Run
    outcome: Settled | Failed


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The owner ends the execution."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The deadline has passed."""


Event = Begun | Requested | Closed | Cancelled | TimedOut


# --- What follows


class Status(StrEnum):
    """What an execution is, or came to."""

    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_FAILURES = "completed_with_failures"
    TERMINATED = "terminated"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class WalkFailure:
    """A failure that no edge handles: it ends a walk, or the execution.

    The reason is the last one of the run, or `port_missing` (the variant lacks a port that an edge
    carries), `not_a_list` (of a port with a `for_each` edge), `raced` (a second value for a port of
    this run, or of all runs of the vertex below this path).
    """

    run: Run
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What followed from an event: runs that are ready since, and failures."""

    ready: tuple[Run, ...]
    failures: tuple[WalkFailure, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Result:
    """A value that the execution came to, with the name that its output has, or none."""

    source: OutputPort
    value: Reference
    name: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What did not start: some values came, those of the ports `missing` did not.

    The path is shorter than those of the vertex's runs where a whole region waits.
    """

    run: Run
    missing: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """In words for people."""
        ports = [port for port in self.missing if port != AFTER]
        lacking = [f"nothing came for {', '.join(ports)}"] if ports else []
        if AFTER in self.missing:
            lacking.append("what it comes after did not happen")
        return f"{self.run} did not start: {', and '.join(lacking)}"
