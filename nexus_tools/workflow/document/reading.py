"""The parser of workflow documents.

The parser accepts every spelling that the reference accepts, and reports fields that the reference
silently drops.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.json_schema import SCHEMA_KEY
from nexus_tools.sui.support.suggestions import with_suggestion
from nexus_tools.tool import ToolFqn, json_pointer, parse_json
from nexus_tools.workflow.document.document import (
    DEFAULT_PARALLEL,
    DIALECT,
    MAX_ATTEMPTS,
    MAX_PARALLEL,
    MAX_RETRY_AFTER_MS,
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    PostFailureAction,
    Storage,
    ValueForm,
    Verifier,
    Vertex,
    VertexKind,
)
from nexus_tools.workflow.document.violation import Severity, Violation, violations_error

_Value = TypeVar("_Value")

EDGE_KINDS = {kind.value: kind for kind in EdgeKind} | {
    # The names of the variants in the Move package of the reference.
    kind.value.title().replace("_", ""): kind
    for kind in EdgeKind
}
ACTIONS = {action.value: action for action in PostFailureAction} | {
    "TransientContinue": PostFailureAction.CONTINUE,
    "Terminate": PostFailureAction.TERMINATE,
}
_VERIFIERS = {verifier.value: verifier for verifier in Verifier}
_STORAGES = {storage.value: storage for storage in Storage}
_VERTEX_KINDS = {kind.value: kind for kind in VertexKind}
VARIANT_TAGS = ("variant", "@variant", "_variant_name")

# Fields of older files that have no effect.
OBSOLETE = {
    "encrypted": "The field does not encrypt anything.",
    "leader_verifier": "Use the field `verifier`.",
    "tool_verifier": "Use the field `verifier`.",
}


def read_document(text: bytes | str) -> tuple[Document, list[Violation]]:
    """Return the document in `text`, and a warning for each ignored field.

    In a document of the dialect, an unknown field is an error. The rules of workflows are not
    checked: see `lint`.

    Raises:
        ValidationError: With code `json_invalid`, or `workflow_invalid` with all structural errors
            in `details["violations"]`.
    """
    value = parse_json(text)
    has_dialect = isinstance(value, dict) and value.get("dialect") == DIALECT
    report = _Report(has_dialect)
    document = _document(_Place(value, (), report))
    errors = [violation for violation in report.violations if violation.is_error]
    if errors:
        raise violations_error(errors)
    return document, report.violations


@dataclass
class _Report:
    """The violations so far. After a violation, the parser continues with a placeholder value."""

    has_dialect: bool
    violations: list[Violation] = field(default_factory=list)

    def add(self, rule: str, message: str, path: "_Path", severity: Severity) -> None:
        self.violations.append(Violation(rule, message, json_pointer(path), severity))


_Path = tuple[str | int, ...]


class _Place(NamedTuple):
    """A value in the document, with its path."""

    value: Any
    path: _Path
    report: _Report

    def refuse(self, problem: str) -> None:
        self.report.add("shape", problem, self.path, Severity.ERROR)

    def fields(
        self, required: Sequence[str], optional: Sequence[str] = (), dialect: Sequence[str] = ()
    ) -> "_Fields":
        """Return the known fields that are present. An optional `null` counts as absent."""
        if not isinstance(self.value, dict):
            self.refuse("Expected an object.")
            return _Fields({})
        for name in required:
            if name not in self.value:
                self.refuse(f"The field `{name}` is missing.")
        known = (*required, *optional, *(dialect if self.report.has_dialect else ()))
        for name in self.value:
            if name not in known:
                self._ignore(name, known, dialect)
        return _Fields(
            {
                name: _Place(self.value[name], (*self.path, name), self.report)
                for name in known
                if name in self.value and (name in required or self.value[name] is not None)
            }
        )

    def items(self) -> "Iterator[_Place]":
        if not isinstance(self.value, list):
            self.refuse("Expected a list.")
            return
        for index, item in enumerate(self.value):
            yield _Place(item, (*self.path, index), self.report)

    def text(self) -> str:
        if isinstance(self.value, str):
            return self.value
        self.refuse("Expected a string.")
        return ""

    def whole(self, least: int, most: int) -> int:
        if type(self.value) is int and least <= self.value <= most:
            return self.value
        self.refuse(f"Expected an integer from {least} to {most}.")
        return least

    def one_of(self, choices: Mapping[str, _Value]) -> _Value:
        """Return the choice that the string names."""
        word = self.text()
        if word not in choices and isinstance(self.value, str):
            known = ", ".join(name for name in choices if name.islower())
            self.refuse(with_suggestion(f"Expected one of {known}, got {word!r}.", word, choices))
        return choices.get(word, next(iter(choices.values())))

    def _ignore(self, name: str, known: Sequence[str], dialect: Sequence[str]) -> None:
        message = f"The field `{name}` is unknown and has no effect."
        if name in dialect:
            message += f' It needs `"dialect": "{DIALECT}"`.'
        elif name in OBSOLETE:
            message += f" {OBSOLETE[name]}"
        else:
            message = with_suggestion(message, name, known)
        severity = Severity.ERROR if self.report.has_dialect else Severity.WARNING
        self.report.add("unknown_field", message, (*self.path, name), severity)


class _Fields(NamedTuple):
    """The known fields of an object. The methods read a field as a type or return a default."""

    places: Mapping[str, _Place]

    def all(self, name: str, read: Callable[[_Place], _Value]) -> tuple[_Value, ...]:
        return tuple(map(read, self.places[name].items())) if name in self.places else ()

    def text(self, name: str) -> str:
        return self.places[name].text() if name in self.places else ""

    def whole(self, name: str, least: int, most: int, default: int) -> int:
        return self.places[name].whole(least, most) if name in self.places else default

    def one_of(self, name: str, choices: Mapping[str, _Value], default: _Value) -> _Value:
        return self.places[name].one_of(choices) if name in self.places else default

    def read(self, name: str, read: Callable[[_Place], _Value], default: _Value) -> _Value:
        return read(self.places[name]) if name in self.places else default


def _document(place: _Place) -> Document:
    fields = place.fields(
        ("vertices", "edges"),
        (
            *("default_values", "entry_groups", "outputs", "post_failure_action", "dialect"),
            SCHEMA_KEY,
        ),
        ("inputs",),
    )
    fields.text(SCHEMA_KEY)
    return Document(
        vertices=fields.all("vertices", _vertex),
        edges=fields.all("edges", _edge),
        defaults=fields.all("default_values", _default),
        entry_groups=fields.all("entry_groups", _entry_group),
        inputs=fields.all("inputs", _input),
        outputs=fields.all("outputs", _output),
        post_failure_action=fields.one_of("post_failure_action", ACTIONS, None),
        dialect=fields.one_of("dialect", {DIALECT: DIALECT}, ""),
    )


def _vertex(place: _Place) -> Vertex:
    fields = place.fields(
        ("name", "kind"),
        ("entry_ports", "post_failure_action", "verifier"),
        ("attempts", "retry_after_ms", "parallel"),
    )
    kind, fqn = fields.read("kind", _kind, (VertexKind.OFF_CHAIN, ""))
    return Vertex(
        name=fields.text("name"),
        fqn=fqn,
        kind=kind,
        entry_ports=fields.all("entry_ports", lambda port: port.fields(("name",)).text("name")),
        post_failure_action=fields.one_of("post_failure_action", ACTIONS, None),
        verifier=fields.read("verifier", lambda mode: _verifier(mode, kind), Verifier.NONE),
        attempts=fields.whole("attempts", 1, MAX_ATTEMPTS, 1),
        retry_after_ms=fields.whole("retry_after_ms", 0, MAX_RETRY_AFTER_MS, 0),
        parallel=fields.whole("parallel", 1, MAX_PARALLEL, DEFAULT_PARALLEL),
    )


def _kind(place: _Place) -> tuple[VertexKind, str]:
    fields = place.fields(("variant", "tool_fqn"))
    named = fields.places.get("tool_fqn")
    fqn = named.text() if named else ""
    if named and isinstance(named.value, str):
        try:
            ToolFqn.parse(fqn)
        except ValidationError as error:
            named.refuse(f"{error.message}. {error.hint}")
    return fields.one_of("variant", _VERTEX_KINDS, VertexKind.OFF_CHAIN), fqn


def _verifier(place: _Place, kind: VertexKind) -> Verifier:
    verifier = place.one_of(_VERIFIERS)
    if verifier is not Verifier.NONE and kind is VertexKind.ON_CHAIN:
        place.refuse("on-chain vertices cannot configure an off-chain verifier")
    elif verifier is Verifier.EXTERNAL:
        place.refuse("External verifiers are not supported. `registered_key` requires a signature.")
    return verifier


def _edge(place: _Place) -> Edge:
    fields = place.fields(("from", "to"), ("kind",))
    return Edge(
        source=fields.read("from", _output_port, OutputPort("", "", "")),
        target=fields.read("to", _input_port, InputPort("", "")),
        kind=fields.read("kind", _edge_kind, EdgeKind.NORMAL),
    )


def _edge_kind(place: _Place) -> EdgeKind:
    if not isinstance(place.value, dict):
        return place.one_of(EDGE_KINDS)
    fields = place.fields((), VARIANT_TAGS)
    if len(fields.places) != 1:
        place.refuse('Expected a string, or an object such as {"variant": "normal"}.')
    return fields.one_of(next(iter(fields.places), ""), EDGE_KINDS, EdgeKind.NORMAL)


def _output_port(place: _Place) -> OutputPort:
    return _port_of(place.fields(("vertex", "output_variant", "output_port")))


def _port_of(fields: _Fields) -> OutputPort:
    return OutputPort(*map(fields.text, ("vertex", "output_variant", "output_port")))


def _input_port(place: _Place) -> InputPort:
    return InputPort(*map(place.fields(("vertex", "input_port")).text, ("vertex", "input_port")))


def _default(place: _Place) -> Default:
    fields = place.fields(("vertex", "input_port", "value"))
    value = fields.read("value", _value, (None, Storage.INLINE, ValueForm.STORAGE))
    return Default(InputPort(fields.text("vertex"), fields.text("input_port")), *value)


def _value(place: _Place) -> tuple[Any, Storage, ValueForm]:
    for form in (ValueForm.ONE, ValueForm.MANY):
        if isinstance(place.value, dict) and form.value in place.value:
            fields = place.fields((form.value,))
            if form is ValueForm.ONE:
                return fields.read("one", _data, None), Storage.INLINE, form
            return list(fields.all("many", _data)), Storage.INLINE, form
    fields = place.fields(("storage", "data"))
    data = fields.read("data", lambda data: data.value, None)
    return data, fields.one_of("storage", _STORAGES, Storage.INLINE), ValueForm.STORAGE


def _data(place: _Place) -> Any:
    """Return the data of `{"kind": "data", "data": …}`."""
    fields = place.fields(("kind", "data"))
    fields.one_of("kind", {"data": "data"}, "data")
    return fields.read("data", lambda data: data.value, None)


def _entry_group(place: _Place) -> EntryGroup:
    fields = place.fields(("name", "vertices"))
    return EntryGroup(fields.text("name"), fields.all("vertices", _Place.text))


def _input(place: _Place) -> Input:
    fields = place.fields(("name", "to"))
    return Input(fields.text("name"), fields.all("to", _input_port))


def _output(place: _Place) -> Output:
    fields = place.fields(("vertex", "output_variant", "output_port"), (), ("name",))
    return Output(_port_of(fields), fields.text("name"))
