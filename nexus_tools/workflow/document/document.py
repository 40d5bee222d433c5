"""The document of a workflow: vertices, which use tools, and the edges between their ports."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol

from nexus_tools.tool import canonical_json

DIALECT = "nexus_tools/1"
"""The value of `dialect` in documents with features that the format of the reference lacks."""

DEFAULT_GROUP = "_default_group"
"""The entry group of documents without groups: all vertices with entry ports."""

AFTER = "_after"
"""The name of input ports that carry no data. A suffix may follow the name, as in `_after_2`."""

ERR_EVAL = "_err_eval"
"""The output variant of a failed run without further attempts.

The variant has the ports `reason` and `detail`.
"""

DEFAULT_PARALLEL = 32
MAX_PARALLEL = 1_024
MAX_ATTEMPTS = 100
MAX_EXECUTION_MS = 90 * 24 * 3_600_000
"""The maximum duration of an execution, 90 days."""
MAX_RETRY_AFTER_MS = MAX_EXECUTION_MS


class VertexKind(StrEnum):
    """The location of a vertex's tool: off-chain or on-chain."""

    OFF_CHAIN = "off_chain"
    ON_CHAIN = "on_chain"


class Verifier(StrEnum):
    """The verifier of a vertex's answers: none, or a key that the tool registered."""

    NONE = "none"
    REGISTERED_KEY = "registered_key"
    EXTERNAL = "external"


class EdgeKind(StrEnum):
    """The effect of an edge on its value."""

    NORMAL = "normal"
    FOR_EACH = "for_each"
    """Splits a list and starts an iteration for each element."""
    COLLECT = "collect"
    """Gathers the values of all iterations, in order, into a list."""
    DO_WHILE = "do_while"
    """Passes the value to the head of the loop for the next round."""
    BREAK = "break"
    """Passes the value out of the loop."""
    STATIC = "static"
    """Provides the value to every iteration and every round."""


class PostFailureAction(StrEnum):
    """The effect of an unhandled failure: skip the dependent vertices, or end the execution."""

    CONTINUE = "continue"
    TERMINATE = "terminate"


class Storage(StrEnum):
    """The storage system that contains the data of a default value."""

    INLINE = "inline"
    WALRUS = "walrus"


class ValueForm(StrEnum):
    """The JSON form of a default value.

    `STORAGE` is an object with the field `storage`. Newer parsers of Talus read the other two
    forms, which are inline. `ONE` is `{"one": {"kind": "data", "data": 1}}`. `MANY` is `{"many":
    […]}`, with one object of kind `data` for each element of a list.
    """

    STORAGE = "storage"
    ONE = "one"
    MANY = "many"


# The unreserved characters of RFC 3986, section 2.3, but not the path segments of section 5.2.4.
_KEY = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,512}")


def is_storage_key(text: str) -> bool:
    """Return whether a string is a storage key that is safe as a part of a path.

    Keys are untrusted. A safe key has at most 512 letters, digits and `-._~`, and is neither `.`
    nor `..`.
    """
    return _KEY.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, order=True)
class OutputPort:
    """A port of a variant of a vertex, such as `judge.good.text`."""

    vertex: str
    variant: str
    port: str

    def __str__(self) -> str:
        return f"{self.vertex}.{self.variant}.{self.port}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON for edges and outputs."""
        return {
            "vertex": self.vertex,
            "output_variant": self.variant,
            "output_port": self.port,
        }


@dataclass(frozen=True, slots=True, order=True)
class InputPort:
    """An input port of a vertex, such as `judge.text`."""

    vertex: str
    port: str

    @property
    def is_order_only(self) -> bool:
        """Whether the port only delays the vertex, so that the tool does not receive its value."""
        return self.port == AFTER or self.port.startswith(f"{AFTER}_")

    def __str__(self) -> str:
        return f"{self.vertex}.{self.port}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON for edges, defaults and inputs."""
        return {"vertex": self.vertex, "input_port": self.port}


@dataclass(frozen=True, slots=True)
class Edge:
    """The connection of an output port to an input port."""

    source: OutputPort
    target: InputPort
    kind: EdgeKind = EdgeKind.NORMAL

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document. The default kind is omitted."""
        return {"from": self.source.as_json(), "to": self.target.as_json()} | _said(
            kind=(self.kind, EdgeKind.NORMAL)
        )


@dataclass(frozen=True, slots=True)
class Vertex:
    """One use of a tool.

    `fqn` is the text of the document. A run has at most `attempts` attempts, `retry_after_ms`
    apart. If a region starts with the vertex, at most `parallel` iterations of the region are in
    flight at once.
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

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document, without default values."""
        return {
            "name": self.name,
            "kind": {"variant": self.kind.value, "tool_fqn": self.fqn},
        } | _said(
            entry_ports=([{"name": port} for port in self.entry_ports], []),
            post_failure_action=(self.post_failure_action, None),
            verifier=(self.verifier, Verifier.NONE),
            attempts=(self.attempts, 1),
            retry_after_ms=(self.retry_after_ms, 0),
            parallel=(self.parallel, DEFAULT_PARALLEL),
        )


@dataclass(frozen=True, slots=True)
class Default:
    """The value of an input port that has no other source.

    `data` is a JSON value, and a list if `form` is `MANY`. `form` is the JSON form in which the
    value was read and will be written.
    """

    target: InputPort
    data: Any
    storage: Storage = Storage.INLINE
    form: ValueForm = ValueForm.STORAGE

    @property
    def data_pointer(self) -> str:
        """The JSON pointer of the data inside the default value."""
        places = {ValueForm.ONE: "/value/one/data", ValueForm.MANY: "/value/many"}
        return places.get(self.form, "/value/data")

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document."""
        return {**self.target.as_json(), "value": self._value()}

    def _value(self) -> dict[str, Any]:
        match self.form:
            case ValueForm.ONE:
                return {"one": {"kind": "data", "data": self.data}}
            case ValueForm.MANY:
                return {"many": [{"kind": "data", "data": element} for element in self.data]}
            case _:
                return {"storage": self.storage.value, "data": self.data}


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """A named group of vertices with which an execution may start."""

    name: str
    vertices: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document."""
        return {"name": self.name, "vertices": list(self.vertices)}


@dataclass(frozen=True, slots=True)
class Input:
    """A name for entry ports that receive the same value. Names are a feature of the dialect."""

    name: str
    targets: tuple[InputPort, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document."""
        return {"name": self.name, "to": [target.as_json() for target in self.targets]}


@dataclass(frozen=True, slots=True)
class Output:
    """An output port whose value is part of the result. An optional name is part of the dialect."""

    source: OutputPort
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document."""
        return self.source.as_json() | _said(name=(self.name, ""))


@dataclass(frozen=True, slots=True)
class Document:
    """A workflow document. The linter checks whether the document obeys the rules."""

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
        """Whether the document may use features that the format of the reference lacks."""
        return self.dialect == DIALECT

    def groups(self) -> tuple[EntryGroup, ...]:
        """Return the entry groups, or the default group if the document has no groups."""
        if self.entry_groups:
            return self.entry_groups
        entered = tuple(vertex.name for vertex in self.vertices if vertex.entry_ports)
        return (EntryGroup(DEFAULT_GROUP, entered),)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the document, without fields that have their default value.

        `read_document` parses the JSON to an equal document.
        """
        return {
            "vertices": _written(self.vertices),
            "edges": _written(self.edges),
        } | _said(
            default_values=(_written(self.defaults), []),
            entry_groups=(_written(self.entry_groups), []),
            inputs=(_written(self.inputs), []),
            outputs=(_written(self.outputs), []),
            post_failure_action=(self.post_failure_action, None),
            dialect=(self.dialect, ""),
        )

    def canonical(self) -> bytes:
        """Return the canonical JSON, which is equal for all spellings of the document."""
        return canonical_json(self.as_json())

    def digest(self) -> bytes:
        """Return the SHA-256 digest of the canonical document (32 bytes)."""
        return sha256(self.canonical()).digest()


class _Written(Protocol):
    def as_json(self) -> dict[str, Any]: ...


def _written(values: Iterable[_Written]) -> list[dict[str, Any]]:
    return [value.as_json() for value in values]


def _said(**fields: tuple[Any, Any]) -> dict[str, Any]:
    """Return the fields whose value differs from the default, given (value, default) pairs."""
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, (value, default) in fields.items()
        if value != default
    }
