"""The controls of a form, which are derived from an input schema.

Each port has a control. A port that no control can represent, such as a list of objects, has
a text field for JSON.
"""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from nexus_tools.explorer.forms.texts import TextBudget
from nexus_tools.tool import SchemaDocument, json_pointer, port_type

ROOT = "in"
"""The name of the control for all inputs together, and the start of the names of other controls."""
_MAX_CONTROLS = 80
_MAX_DEPTH = 4
_MAX_CHOICES = 100
_MAX_CHOICE_TEXT = 2_000
_MAX_NAME = 60
_LONG_TEXT = 120
_SCALARS = ("string", "integer", "number", "boolean")
_BOUNDS = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("exclusiveMinimum", "more than {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("pattern", "matches {}"),
    ("format", "format {}"),
    ("default", "default {}"),
)


class ControlKind(StrEnum):
    """The kinds of controls."""

    TEXT = "text"
    LONG_TEXT = "long_text"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    LINES = "lines"
    """A list of scalars, with one item in each line."""
    JSON = "json"
    GROUP = "group"
    """An object, whose ports have controls of their own."""


_SYNTAX = {
    ControlKind.LINES: ("one item per line, or a JSON array",),
    ControlKind.JSON: ("JSON",),
}
_KINDS = {
    "integer": ControlKind.INTEGER,
    "number": ControlKind.NUMBER,
    "string": ControlKind.LONG_TEXT,
    "object": ControlKind.GROUP,
}


class Control(Struct, frozen=True):
    """A control for a value of the inputs.

    `element_id` is the ID of the element. `name` is `in` and the JSON pointer of the value.
    `pointer` is that pointer. `label`, `description` and `hints` are untrusted texts. `choices` are
    the values of a choice. `item_type` is the type of the items of `LINES`. A group has `controls`.
    """

    element_id: str
    name: str
    pointer: str
    key: str
    label: str
    description: str
    kind: ControlKind
    type: str
    is_required: bool
    hints: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    item_type: str = "string"
    controls: "tuple[Control, ...]" = ()


def input_controls(document: SchemaDocument, budget: TextBudget) -> tuple[Control, ...]:
    """Return the controls of the ports of an input schema.

    If the schema has no ports or too many of them, return one control for all inputs.
    """
    builder = _Builder(document, budget)
    controls = tuple(builder.ports("", document.root, (), 0))
    takes_more = document.root.get("additionalProperties") is not False
    is_incomplete = builder.is_full or (takes_more and not controls)
    return (whole_input(),) if is_incomplete else controls


def whole_input() -> Control:
    """Return the control for all inputs as JSON."""
    text = "All inputs as one JSON object."
    return Control(
        "control-0", ROOT, "", "", "Inputs", text, ControlKind.JSON, "object", is_required=True
    )


class _Builder:
    """The builder of the controls of one schema, which counts them."""

    def __init__(self, document: SchemaDocument, budget: TextBudget) -> None:
        self._document = document
        self._budget = budget
        self._left = _MAX_CONTROLS
        self.is_full = False

    def ports(
        self, pointer: str, schema: Mapping[str, Any], path: tuple[str, ...], depth: int
    ) -> Iterator[Control]:
        required = schema.get("required", ())
        # A schema on chain has sorted names, so the required ports come first instead.
        ports = schema.get("properties", {})
        for name in sorted(ports, key=lambda name: name not in required):
            if self._left <= 0:
                self.is_full = True
                return
            place = f"{pointer}/properties{json_pointer((name,))}"
            yield self._control(place, ports[name], (*path, name), name in required, depth)

    def _control(
        self, pointer: str, port: Any, path: tuple[str, ...], is_required: bool, depth: int
    ) -> Control:
        element_id = f"control-{self._left}"
        self._left -= 1
        target, schema = self._target(pointer)
        kind, choices = _kind(schema)
        controls: tuple[Control, ...] = ()
        if kind is ControlKind.GROUP:
            if depth < _MAX_DEPTH:
                controls = tuple(self.ports(target, schema, path, depth + 1))
            kind = kind if controls else ControlKind.JSON
        value_pointer, take = json_pointer(path), self._budget.take
        texts = {**schema, **(port if isinstance(port, dict) else {})}
        return Control(
            element_id,
            ROOT + value_pointer,
            value_pointer,
            path[-1],
            take(texts.get("title")) or path[-1][:_MAX_NAME],
            take(texts.get("description")),
            kind,
            take(port_type(schema), _MAX_NAME),
            is_required,
            (*_SYNTAX.get(kind, ()), *(take(hint, _MAX_NAME) for hint in _hints(texts))),
            choices,
            _item_type(schema),
            controls,
        )

    def _target(self, pointer: str) -> tuple[str, dict[str, Any]]:
        """Return the schema to which a port refers, without the alternative `null`."""
        target, schema = self._document.target(pointer)
        if not isinstance(schema, dict):
            return target, {}
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and "type" not in schema:
                places = [f"{target}/{keyword}/{place}" for place in range(len(branches))]
                found = [self._document.target(place) for place in places]
                others = [item for item in found if not _is_null(item[1])]
                if len(others) == 1 and isinstance(others[0][1], dict):
                    return others[0][0], others[0][1]
        return target, schema


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _kind(schema: Mapping[str, Any]) -> tuple[ControlKind, tuple[Any, ...]]:
    """Return the kind of a control and its choices."""
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(enum, list) and _are_choices(enum):
        return ControlKind.CHOICE, tuple(enum)
    value_type = _single_type(schema.get("type"))
    if value_type == "boolean":
        return ControlKind.CHOICE, (True, False)
    if value_type == "array":
        return (ControlKind.LINES if _item_type(schema) else ControlKind.JSON), ()
    if value_type == "string" and not _is_long(schema.get("maxLength")):
        return ControlKind.TEXT, ()
    return _KINDS.get(value_type, ControlKind.JSON), ()


def _are_choices(enum: list[Any]) -> bool:
    """Return whether a list of values is short enough for a choice."""
    if not 0 < len(enum) <= _MAX_CHOICES:
        return False
    return len(json.dumps(enum, ensure_ascii=False)) <= _MAX_CHOICE_TEXT


def _single_type(types: Any) -> str:
    """Return the type of a schema if it has one in addition to `null`, or an empty text."""
    kinds = [kind for kind in types if kind != "null"] if isinstance(types, list) else [types]
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else ""


def _item_type(schema: Mapping[str, Any]) -> str:
    """Return the type of the items of a list of scalars, or an empty text."""
    items = schema.get("items")
    if not isinstance(items, dict) or "prefixItems" in schema:
        return ""
    item_type = _single_type(items.get("type"))
    return item_type if item_type in _SCALARS else ""


def _is_long(max_length: Any) -> bool:
    return not isinstance(max_length, int) or max_length > _LONG_TEXT


def _hints(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the limits of a value in words."""
    for keyword, words in _BOUNDS:
        if keyword in schema:
            value = schema[keyword]
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield words.format(text)
