"""The strict copy of a schema, to which OpenAI's models keep exactly, and the way back from it.

Every property is required, those that were optional may be null instead, and objects are closed.
What a copy cannot say is left out, so that it allows more: a call is checked against the tool's own
schema all the same. Source: OpenAI's guide to structured outputs, "Supported schemas".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nexus_tools.export.exported import Arguments, moved
from nexus_tools.export.requirements import unmet_demand
from nexus_tools.tool import SchemaDocument, linear_time, pointer_of

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator


_DEFINITION = re.compile(r"/\$defs/[^/]+")
_OTHER = re.compile(r"[^A-Za-z0-9_]")

_STRING_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_ANNOTATIONS = ("title", "description")
_ASSERTIONS = (
    "enum",
    "const",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
)
# Beside a union they may require what its branches do not describe.
_DEMANDS = (
    *("required", "dependentRequired", "dependentSchemas", "minProperties"),
    *("if", "contains", "items"),
)
_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
    list: "array",
    dict: "object",
}

Schema = dict[str, Any]


class NotStrictError(Exception):
    """There is no strict copy; the message says where, and what it could not say."""


def strict_arguments(arguments: Arguments) -> Arguments:
    """The same arguments under a strict schema. Raises `NotStrictError`."""
    original = arguments.schema
    copy = _root(_with_definitions(original))
    problem = broken_limit(copy)
    if problem:
        raise NotStrictError(problem)
    return Arguments(copy, arguments.wrapped, Fillers(original).taken_away)


def _with_definitions(schema: Schema) -> Schema:
    """The same schema, in which what is referred to elsewhere stands in `$defs` as well.

    `{"properties": {"a": …, "b": {"$ref": "#/properties/a"}}}` has `#/$defs/a_0` for `b` then.
    """
    document = SchemaDocument.parse(schema)
    referred = {
        pointer for each in document.subschemas.values() for pointer in document.references(each)
    }
    elsewhere = sorted(each for each in referred if each and not _DEFINITION.fullmatch(each))
    if not elsewhere:
        return schema
    names = {
        pointer: f"{_OTHER.sub('_', pointer.rpartition('/')[2])}_{number}"
        for number, pointer in enumerate(elsewhere)
    }
    # Where the targets stand does not change: the copy of each is found where the original is.
    targets = {names[pointer]: document.subschemas[pointer] for pointer in elsewhere}
    whole = schema | {"$defs": schema.get("$defs", {}) | targets}
    return moved(whole, lambda pointer: f"/$defs/{names[pointer]}" if pointer in names else pointer)


def _root(schema: Schema) -> Schema:
    """A root without properties takes no arguments, whatever else it would allow."""
    copy: Schema = {"type": "object"} | {key: schema[key] for key in _ANNOTATIONS if key in schema}
    copy |= _object({"properties": {}, **schema}, "")
    definitions = schema.get("$defs", {})
    if definitions:
        copy["$defs"] = {
            name: _strict(each, f"/$defs{pointer_of((name,))}")
            for name, each in definitions.items()
        }
    return copy


def _strict(schema: Schema | bool, place: str) -> Schema:
    if isinstance(schema, bool):
        raise _no(place, "it allows any value" if schema else "it allows no value")
    branches = list(_alternatives(schema, place))
    copy = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    if branches:
        return copy | {"anyOf": branches} if copy or branches[1:] else branches[0]
    values = [*schema.get("enum", ()), schema.get("const")]
    if any(isinstance(value, dict | list) for value in values):
        raise _no(place, "its values are whole objects or arrays")
    types = _types(schema, place)
    copy["type"] = types[0] if len(types) == 1 else types
    copy |= {key: schema[key] for key in _ASSERTIONS if key in schema}
    if schema.get("format") in _STRING_FORMATS:
        copy["format"] = schema["format"]
    for name, add in _CONTAINERS.items():
        if name in types:
            copy |= add(schema, place)
    return copy


def _alternatives(schema: Schema, place: str) -> Iterator[Schema]:
    """The branches of the one union that a strict schema may be; none if it is no union."""
    unions = [key for key in ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf") if key in schema]
    if len(unions) > 1 or (unions and "properties" in schema):
        raise _no(place, f"it has {' and '.join([*unions, 'properties'][:2])} together")
    demands = [key for key in _DEMANDS if key in schema]
    if unions and demands:
        raise _no(place, f"it has {unions[0]} and {demands[0]} together")
    for keyword in unions:
        found = schema[keyword]
        if isinstance(found, str):
            yield {"$ref": _reference(found, place)}
        elif keyword == "allOf" and len(found) > 1:
            raise _no(place, "it has allOf")
        else:
            for index, branch in enumerate(found):
                yield _strict(branch, f"{place}/{keyword}/{index}")


def _reference(reference: str, place: str) -> str:
    if reference == "#" or (reference.startswith("#/$defs/") and reference.count("/") == 2):
        return reference
    raise _no(place, f"it refers to {reference[:80]}, which is not in $defs")


def _types(schema: Schema, place: str) -> list[str]:
    found = schema.get("type", [])
    if found:
        return [found] if isinstance(found, str) else list(found)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    types = list(dict.fromkeys(_TYPES[type(value)] for value in values))
    if not types and "properties" in schema:
        types = ["object"]
    if not types:
        raise _no(place, "it has no type")
    return types


def _object(schema: Schema, place: str) -> Schema:
    properties = schema.get("properties")
    others = schema.get("additionalProperties")
    is_open = isinstance(others, dict) or "patternProperties" in schema
    if is_open or (properties is None and others is not False):
        raise _no(place, "its properties have any names")
    unmet = unmet_demand(schema, set(properties or {}))
    if unmet:
        raise _no(place, unmet)
    required = schema.get("required", ())
    copies = {
        name: _property(schema, name, place, optional=name not in required)
        for name in properties or {}
    }
    return {"properties": copies, "required": list(copies), "additionalProperties": False}


def _array(schema: Schema, place: str) -> Schema:
    if "items" not in schema or "prefixItems" in schema:
        raise _no(place, "its items are not all described alike")
    contained = schema.get("contains")
    if isinstance(contained, dict) and schema.get("minContains", 1):
        items = schema["items"] if isinstance(schema["items"], dict) else {}
        unmet = unmet_demand(contained, set(items.get("properties", ())))
        if unmet or "$ref" in contained or "$dynamicRef" in contained:
            raise _no(place, f"it contains an item of another form: {unmet or 'it has $ref'}")
    return {"items": _strict(schema["items"], f"{place}/items")}


_CONTAINERS: dict[str, Callable[[Schema, str], Schema]] = {"object": _object, "array": _array}


def _property(schema: Schema, name: str, place: str, *, optional: bool) -> Schema:
    copy = _strict(schema["properties"][name], f"{place}/properties{pointer_of((name,))}")
    return _nullable(copy) if optional else copy


def _nullable(copy: Schema) -> Schema:
    """The same, or null."""
    if "anyOf" in copy:
        is_there = any(branch.get("type") == "null" for branch in copy["anyOf"])
        return copy if is_there else copy | {"anyOf": [*copy["anyOf"], {"type": "null"}]}
    if "type" not in copy or "enum" in copy or "const" in copy:
        outside = {key: copy[key] for key in _ANNOTATIONS if key in copy}
        inside = {key: value for key, value in copy.items() if key not in outside}
        return outside | {"anyOf": [inside, {"type": "null"}]}
    types = [copy["type"]] if isinstance(copy["type"], str) else copy["type"]
    return copy | {"type": types if "null" in types else [*types, "null"]}


def _no(place: str, what: str) -> NotStrictError:
    return NotStrictError(f"{place or 'at its root'}: {what}")


# --- How large a strict schema may be
#
# The limits of 5 000 properties and of 120 000 characters in names and values need no check: a
# tool's schema has 2 000 subschemas and 48 KiB at most.

MAX_DEPTH = 10
MAX_ENUM_VALUES = 1_000
MAX_LONG_ENUM_CHARACTERS = 15_000
_LONG_ENUM = 250


def broken_limit(schema: Schema) -> str:
    """Which limit a strict schema goes over; empty if none."""
    enums = list(_enums(schema))
    if sum(map(len, enums)) > MAX_ENUM_VALUES:
        return f"its enums have more than {MAX_ENUM_VALUES} values"
    if any(
        len(enum) > _LONG_ENUM and _characters(enum) > MAX_LONG_ENUM_CHARACTERS for enum in enums
    ):
        return f"an enum has more than {MAX_LONG_ENUM_CHARACTERS} characters"
    roots = (schema, *schema.get("$defs", {}).values())
    if max(map(_depth, roots)) > MAX_DEPTH:
        return f"its objects are nested more than {MAX_DEPTH} deep"
    return ""


def _inner(schema: Schema) -> list[Schema]:
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *items]


def _depth(schema: Schema) -> int:
    """How deep objects are nested; what a reference leads to is counted by itself."""
    deepest = max((_depth(inner) for inner in _inner(schema)), default=0)
    return deepest + ("properties" in schema)


def _enums(schema: Schema) -> Iterator[list[Any]]:
    if "enum" in schema:
        yield schema["enum"]
    for inner in (*_inner(schema), *schema.get("$defs", {}).values()):
        yield from _enums(inner)


def _characters(values: list[Any]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


# --- The way back

_WHOLE = "/$defs/whole"


class Fillers:
    """The fillers in arguments of one schema, the original of the strict one."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._document = SchemaDocument.parse(schema)
        self._whole = moved(schema, lambda pointer: f"{_WHOLE}{pointer}")
        self._validators: dict[str, Draft202012Validator] = {}

    def taken_away(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments without each null of an optional property that has no null of its own."""
        found = self._cleaned(arguments, "")
        assert isinstance(found, dict)
        return found

    def _cleaned(self, value: Any, place: str) -> Any:
        """A value as the schema at `place` has it."""
        schema = self._document.subschemas[place]
        if isinstance(schema, bool):
            return value
        for pointer in self._document.references(schema):
            value = self._cleaned(value, pointer)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = [f"{place}/{keyword}/{i}" for i in range(len(schema.get(keyword, ())))]
            value = self._as_a_branch_has_it(value, branches)
        if isinstance(value, dict):
            return self._object(value, schema, place)
        if isinstance(value, list) and "items" in schema:
            return [self._cleaned(item, f"{place}/items") for item in value]
        return value

    def _as_a_branch_has_it(self, value: Any, branches: Sequence[str]) -> Any:
        """As the first branch has it that it fits then; as it is if it fits none."""
        for place in branches:
            cleaned = self._cleaned(value, place)
            if self._allows(place, cleaned):
                return cleaned
        return value

    def _object(self, value: dict[str, Any], schema: dict[str, Any], place: str) -> dict[str, Any]:
        places = {
            name: f"{place}/properties{pointer_of((name,))}"
            for name in schema.get("properties", {})
        }
        optional = places.keys() - set(schema.get("required", ()))
        return {
            name: self._cleaned(inner, places[name]) if name in places else inner
            for name, inner in value.items()
            if inner is not None or name not in optional or self._allows(places[name], None)
        }

    def _allows(self, place: str, value: Any) -> bool:
        if place not in self._validators:
            self._validators[place] = self._validator(place)
        return self._validators[place].is_valid(value)

    def _validator(self, place: str) -> "Draft202012Validator":
        import jsonschema_rs  # noqa: PLC0415 - native code, needed only where arguments come in

        target = {"$defs": {"whole": self._whole}, "$ref": f"#{_WHOLE}{quote(place)}"}
        return jsonschema_rs.Draft202012Validator(
            target, pattern_options=linear_time(), offline=True
        )
