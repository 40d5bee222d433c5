"""The document of a workflow: vertices, which are tools, and the edges between their ports."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

DIALECT = "nexus_tools/1"
"""The value of `dialect` in documents that use what the reference's format lacks."""

DEFAULT_GROUP = "_default_group"
"""The entry group of documents that name none: all vertices with entry ports."""

AFTER = "_after"
"""Input ports of this name, or of one that starts with it and `_`, give order without data."""

ERR_EVAL = "_err_eval"
"""The variant of a run that failed for good; its ports are `reason` and `detail`."""

DEFAULT_PARALLEL = 32


class VertexKind(StrEnum):
    """Where the tool of a vertex runs."""

    OFF_CHAIN = "off_chain"
    ON_CHAIN = "on_chain"


class Verifier(StrEnum):
    """Who vouches for the answers of a vertex: nobody, or a key that the tool registered."""

    NONE = "none"
    REGISTERED_KEY = "registered_key"
    EXTERNAL = "external"


class EdgeKind(StrEnum):
    """What an edge does with the value that it carries."""

    NORMAL = "normal"
    FOR_EACH = "for_each"
    """Splits a list: an iteration for each element."""
    COLLECT = "collect"
    """Gathers what the iterations gave, in order, as a list."""
    DO_WHILE = "do_while"
    """Takes the value to the head of the loop, in the next round."""
    BREAK = "break"
    """Takes the value out of the loop."""
    STATIC = "static"
    """Keeps the value there for every index."""


class PostFailureAction(StrEnum):
    """What a failure that nobody handles does: end its walk, or the execution."""

    CONTINUE = "continue"
    TERMINATE = "terminate"


class Storage(StrEnum):
    """Where the data of a default value is."""

    INLINE = "inline"
    WALRUS = "walrus"


@dataclass(frozen=True, slots=True, order=True)
class OutputPort:
    """A port of a variant of a vertex: `judge.good.text`."""

    vertex: str
    variant: str
    port: str

    def __str__(self) -> str:
        return f"{self.vertex}.{self.variant}.{self.port}"


@dataclass(frozen=True, slots=True, order=True)
class InputPort:
    """A port that a vertex takes: `judge.text`."""

    vertex: str
    port: str

    @property
    def is_order_only(self) -> bool:
        """Whether the tool does not get the value: the port is there to wait for something."""
        return self.port == AFTER or self.port.startswith(f"{AFTER}_")

    def __str__(self) -> str:
        return f"{self.vertex}.{self.port}"


@dataclass(frozen=True, slots=True)
class Edge:
    """The way of a value from an output port to an input port."""

    source: OutputPort
    target: InputPort
    kind: EdgeKind = EdgeKind.NORMAL


@dataclass(frozen=True, slots=True)
class Vertex:
    """One use of a tool.

    `fqn` is text as the document has it. A failed run is tried `attempts` times in all,
    `retry_after_ms` apart; of a vertex, `parallel` runs are under way at once at most.
    """

    name: str
    fqn: str
    kind: VertexKind = VertexKind.OFF_CHAIN
    entry_ports: tuple[str, ...] = ()
    post_failure_action: PostFailureAction | None = None
    verifier: Verifier = Verifier.NONE
    attempts: int = 1
    retry_after_ms: int = 0
    parallel: int = DEFAULT_PARALLEL


@dataclass(frozen=True, slots=True)
class Default:
    """The value of an input port that nothing else feeds; `data` is a JSON value."""

    target: InputPort
    data: Any
    storage: Storage = Storage.INLINE


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """Vertices with which an execution may begin, by a name."""

    name: str
    vertices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """A name for entry ports that get the same value (dialect)."""

    name: str
    targets: tuple[InputPort, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """An output port whose value is part of the result, perhaps with a name (dialect)."""

    source: OutputPort
    name: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A workflow as it is written down; whether it obeys the rules, the linter says."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    defaults: tuple[Default, ...] = ()
    entry_groups: tuple[EntryGroup, ...] = ()
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    post_failure_action: PostFailureAction | None = None
    dialect: str = ""

    @property
    def has_dialect(self) -> bool:
        """Whether the document may use what the reference's format lacks."""
        return self.dialect == DIALECT

    def groups(self) -> tuple[EntryGroup, ...]:
        """The entry groups, or the one that documents without any have."""
        if self.entry_groups:
            return self.entry_groups
        entered = tuple(vertex.name for vertex in self.vertices if vertex.entry_ports)
        return (EntryGroup(DEFAULT_GROUP, entered),)
