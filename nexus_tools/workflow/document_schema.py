"""The JSON Schema of a workflow document, generated from the rules of the parser."""

from collections.abc import Mapping
from enum import Enum

from nexus_tools.sui.support.json_schema import (
    SCHEMA_KEY,
    Schema,
    choices,
    description_of,
    items,
    nullable,
    records,
    reference,
    schema_key,
    text,
    whole,
)
from nexus_tools.tool import fqn_schema
from nexus_tools.workflow.document import document as model
from nexus_tools.workflow.document.reading import ACTIONS, EDGE_KINDS, OBSOLETE, VARIANT_TAGS
from nexus_tools.workflow.linter.lint import MAX_GROUPS

STATED_RULES = ("shape", "unknown_field", "too_large")
"""The rules of the parser and the linter that the schema states. All others concern the graph."""

_Fields = Mapping[str, Schema]

_INPUT_PORT = {"vertex": text("A vertex, by name."), "input_port": text("An input port.")}
_OUTPUT_PORT = {
    "vertex": text("A vertex, by name."),
    "output_variant": text("A variant in which the vertex may end."),
    "output_port": text("A port of the variant."),
}
_ENCRYPTED = ("encrypted",)


def workflow_schema() -> Schema:
    """Return the schema of a workflow document, with or without the dialect.

    The schema accepts every document without errors, and rejects each document that violates one of
    `STATED_RULES`.
    """
    has_dialect = {"properties": {"dialect": {"const": model.DIALECT}}, "required": ["dialect"]}
    shared = {
        "fqn": fqn_schema(),
        "edge_kind": _edge_kind(),
        "post_failure_action": _post_failure_action(),
    }
    return {
        "description": description_of(model.Document),
        "if": has_dialect,
        "then": reference("dialect_document"),
        "else": reference("document"),
        "$defs": shared
        | _Definitions(has_dialect=False).named()
        | _Definitions(has_dialect=True).named(),
    }


def _edge_kind() -> Schema:
    """Return the schema of the names of kinds, with the names in Move as other spellings."""
    kinds = choices(model.EdgeKind)
    return kinds | {"oneOf": [*kinds["oneOf"], _other_spellings(EDGE_KINDS, model.EdgeKind)]}


def _post_failure_action() -> Schema:
    actions = choices(model.PostFailureAction)
    other = _other_spellings(ACTIONS, model.PostFailureAction)
    return actions | {"oneOf": [*actions["oneOf"], other]}


def _other_spellings(known: Mapping[str, object], usual: type[Enum]) -> Schema:
    usual_names = {member.value for member in usual}
    return {
        "enum": [name for name in known if name not in usual_names],
        "deprecated": True,
        "description": "The name in Move.",
    }


class _Definitions:
    """The definitions of the objects in a document with or without the dialect.

    In the dialect, unknown fields are errors. Otherwise unknown fields have no effect, so their
    values are not checked.
    """

    def __init__(self, *, has_dialect: bool) -> None:
        self._has_dialect = has_dialect

    def named(self) -> dict[str, Schema]:
        """Return all definitions by name."""
        definitions = {
            "document": self._document(),
            "vertex": self._vertex(),
            "kind": self._kind(),
            "edge": self._edge(),
            "edge_kind_object": self._edge_kind_object(),
            "input_port": self._object(model.InputPort, _INPUT_PORT, obsolete=_ENCRYPTED),
            "output_port": self._object(model.OutputPort, _OUTPUT_PORT, obsolete=_ENCRYPTED),
            "default_value": self._default_value(),
            "data": self._data(),
            "entry_port": self._object(
                None, {"name": text("The name of the input port.")}, obsolete=_ENCRYPTED
            ),
            "entry_group": self._entry_group(),
            "output": self._object(
                model.Output, _OUTPUT_PORT, {}, {"name": text("The name in the result.")}
            ),
        }
        if self._has_dialect:
            definitions["input"] = self._input()
        return {self._name(name): schema for name, schema in definitions.items()}

    def _name(self, name: str) -> str:
        return f"dialect_{name}" if self._has_dialect else name

    def _of(self, name: str) -> Schema:
        return reference(self._name(name))

    def _object(
        self,
        documented: object,
        required: _Fields,
        optional: _Fields | None = None,
        dialect: _Fields | None = None,
        obsolete: tuple[str, ...] = (),
    ) -> Schema:
        """Return the schema of an object, whose optional fields may be `null`."""
        fields = {**required, **{name: nullable(one) for name, one in (optional or {}).items()}}
        for name, field in (dialect or {}).items():
            fields[name] = nullable(field) if self._has_dialect else _needs_dialect(field)
        if not self._has_dialect:
            fields |= {name: _deprecated(OBSOLETE[name]) for name in obsolete}
        described = {"description": description_of(documented)} if documented else {}
        return described | records(fields, required, is_closed=self._has_dialect)

    def _document(self) -> Schema:
        optional = {
            SCHEMA_KEY: schema_key(),
            "dialect": {
                "const": model.DIALECT,
                "description": "Allow more features, and reject unknown fields.",
            },
            "default_values": items(
                self._of("default_value"),
                "Values of input ports that have no edge and no value from the caller.",
            ),
            "entry_groups": items(
                self._of("entry_group"),
                "The sets of vertices with which an execution can start. Default: one group with"
                " all vertices that have entry ports.",
                maxItems=MAX_GROUPS,
            ),
            "outputs": items(
                self._of("output"), "The output ports whose values are the result of an execution."
            ),
            "post_failure_action": reference("post_failure_action"),
        }
        required = {
            "vertices": items(self._of("vertex"), "The vertices, each of which uses one tool."),
            "edges": items(self._of("edge"), "The edges from output ports to input ports."),
        }
        inputs = items(self._of("input"), "Names for entry ports, for callers.")
        return self._object(model.Document, required, optional, {"inputs": inputs})

    def _vertex(self) -> Schema:
        is_on_chain = {"variant": {"const": model.VertexKind.ON_CHAIN.value}}
        supported = [model.Verifier.NONE.value, model.Verifier.REGISTERED_KEY.value]
        optional = {
            "entry_ports": items(
                self._of("entry_port"), "The input ports for which the caller passes values."
            ),
            "post_failure_action": reference("post_failure_action"),
            "verifier": {"enum": supported, "description": description_of(model.Verifier)},
        }
        dialect = {
            "attempts": whole(1, model.MAX_ATTEMPTS, 1, "The maximum number of attempts of a run."),
            "retry_after_ms": whole(
                0, model.MAX_RETRY_AFTER_MS, 0, "The delay before each further attempt, in ms."
            ),
            "parallel": whole(
                1,
                model.MAX_PARALLEL,
                model.DEFAULT_PARALLEL,
                "The maximum number of iterations in flight, if a region starts with the vertex.",
            ),
        }
        required = {"name": text("The name of the vertex."), "kind": self._of("kind")}
        obsolete = ("leader_verifier", "tool_verifier")
        return self._object(model.Vertex, required, optional, dialect, obsolete) | {
            "if": {"properties": {"kind": {"properties": is_on_chain}}},
            "then": {"properties": {"verifier": {"enum": [model.Verifier.NONE.value, None]}}},
        }

    def _kind(self) -> Schema:
        fields = {"variant": choices(model.VertexKind), "tool_fqn": reference("fqn")}
        described = {"description": "The tool of the vertex, and its location."}
        return described | self._object(None, fields)

    def _edge(self) -> Schema:
        kind = {"anyOf": [reference("edge_kind"), self._of("edge_kind_object")]}
        default = {"default": model.EdgeKind.NORMAL.value}
        ends = {"from": self._of("output_port"), "to": self._of("input_port")}
        return self._object(model.Edge, ends, {"kind": kind | default})

    def _edge_kind_object(self) -> Schema:
        """Return the schema of an object with exactly one tag that is not `null`."""
        fields = {tag: nullable(reference("edge_kind")) for tag in VARIANT_TAGS}
        tags = [
            {"properties": {tag: {"type": "string"}}, "required": [tag]} for tag in VARIANT_TAGS
        ]
        return records(fields, is_closed=self._has_dialect) | {"oneOf": tags}

    def _default_value(self) -> Schema:
        """Return the schema of a default value in one of its three forms."""
        storage = choices(model.Storage)
        forms = {
            "one": self._object(None, {"one": self._of("data")}),
            "many": self._object(None, {"many": items(self._of("data"), "A list of values.")}),
        }
        stored = self._object(None, {"storage": storage, "data": _any_value()})
        value = {
            "description": "The value, with the storage system that contains it.",
            "if": {"type": "object", "required": ["one"]},
            "then": forms["one"],
            "else": {
                "if": {"type": "object", "required": ["many"]},
                "then": forms["many"],
                "else": stored,
            },
        }
        return self._object(model.Default, {**_INPUT_PORT, "value": value})

    def _data(self) -> Schema:
        return self._object(None, {"kind": {"const": "data"}, "data": _any_value()})

    def _entry_group(self) -> Schema:
        vertices = items(text(), "The names of the vertices.")
        fields = {"name": text("The name of the group."), "vertices": vertices}
        return self._object(model.EntryGroup, fields)

    def _input(self) -> Schema:
        targets = items(self._of("input_port"), "The entry ports.", minItems=1)
        fields = {"name": text("The name that callers use."), "to": targets}
        return self._object(model.Input, fields)


def _any_value() -> Schema:
    return {"description": "Any JSON value."}


def _needs_dialect(field: Schema) -> Schema:
    """Return the schema of a field that has no effect, because it needs the dialect."""
    needs = f'This field has no effect without `"dialect": "{model.DIALECT}"`.'
    return _deprecated(f"{field['description']} {needs}")


def _deprecated(description: str) -> Schema:
    return {"deprecated": True, "description": description}
