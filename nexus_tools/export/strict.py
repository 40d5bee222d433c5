"""The strict copy of a schema, which OpenAI's models always satisfy, and the conversion back.

In a strict copy every property is required, optional properties may be null, and objects are
closed. Constraints that a copy cannot express are omitted, so the copy allows more values. Calls
are still checked against the tool's own schema. Source: OpenAI's guide to structured outputs,
"Supported schemas".
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nexus_tools.export.exported import Arguments, relocate_pointers
from nexus_tools.export.requirements import unmet_requirement
from nexus_tools.tool import SchemaDocument, json_pointer, linear_time_options

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
# Keywords that, beside a union, may require properties which its branches do not describe.
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
    """The error of a schema without a strict copy. The message gives the location and reason."""


def strict_arguments(arguments: Arguments) -> Arguments:
    """Return `arguments` with a strict schema.

    Raises:
        NotStrictError: if a strict schema is not possible.
    """
    original = arguments.schema
    copy = _root(_with_definitions(original))
    problem = exceeded_limit(copy)
    if problem:
        raise NotStrictError(problem)
    return Arguments(copy, arguments.wrapped, FillerRemover(original).taken_away)


def _with_definitions(schema: Schema) -> Schema:
    """Return the schema with all targets of references copied to `$defs`.

    For example, in `{"properties": {"a": …, "b": {"$ref": "#/properties/a"}}}` the reference of `b`
    becomes `#/$defs/a_0`.
    """
    document = SchemaDocument.parse(schema)
    referenced = {
        pointer
        for subschema in document.subschemas.values()
        for pointer in document.references(subschema)
    }
    outside = sorted(
        pointer for pointer in referenced if pointer and not _DEFINITION.fullmatch(pointer)
    )
    if not outside:
        return schema
    names = {
        pointer: f"{_OTHER.sub('_', pointer.rpartition('/')[2])}_{number}"
        for number, pointer in enumerate(outside)
    }
    # The original targets keep their positions, because other keywords may depend on positions.
    targets = {names[pointer]: document.subschemas[pointer] for pointer in outside}
    document_schema = schema | {"$defs": schema.get("$defs", {}) | targets}
    return relocate_pointers(
        document_schema, lambda pointer: f"/$defs/{names[pointer]}" if pointer in names else pointer
    )


def _root(schema: Schema) -> Schema:
    """Return the strict root. A root without properties takes no arguments."""
    copy: Schema = {"type": "object"} | {key: schema[key] for key in _ANNOTATIONS if key in schema}
    copy |= _object({"properties": {}, **schema}, "")
    definitions = schema.get("$defs", {})
    if definitions:
        copy["$defs"] = {
            name: _strict(definition, f"/$defs{json_pointer((name,))}")
            for name, definition in definitions.items()
        }
    return copy


def _strict(schema: Schema | bool, place: str) -> Schema:
    if isinstance(schema, bool):
        raise _not_strict(place, "it allows any value" if schema else "it allows no value")
    branches = list(_alternatives(schema, place))
    copy = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    if branches:
        return copy | {"anyOf": branches} if copy or branches[1:] else branches[0]
    values = [*schema.get("enum", ()), schema.get("const")]
    if any(isinstance(value, dict | list) for value in values):
        raise _not_strict(place, "its enum or const contains objects or arrays")
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
    """Yield the branches of a schema that is a union. Yield nothing for other schemas."""
    unions = [key for key in ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf") if key in schema]
    if len(unions) > 1 or (unions and "properties" in schema):
        raise _not_strict(place, f"it has {' and '.join([*unions, 'properties'][:2])} together")
    demands = [key for key in _DEMANDS if key in schema]
    if unions and demands:
        raise _not_strict(place, f"it has {unions[0]} and {demands[0]} together")
    for keyword in unions:
        value = schema[keyword]
        if isinstance(value, str):
            yield {"$ref": _reference(value, place)}
        elif keyword == "allOf" and len(value) > 1:
            raise _not_strict(place, "it has allOf")
        else:
            for index, branch in enumerate(value):
                yield _strict(branch, f"{place}/{keyword}/{index}")


def _reference(reference: str, place: str) -> str:
    if reference == "#" or (reference.startswith("#/$defs/") and reference.count("/") == 2):
        return reference
    raise _not_strict(place, f"it refers to {reference[:80]}, which is not in $defs")


def _types(schema: Schema, place: str) -> list[str]:
    declared = schema.get("type", [])
    if declared:
        return [declared] if isinstance(declared, str) else list(declared)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    types = list(dict.fromkeys(_TYPES[type(value)] for value in values))
    if not types and "properties" in schema:
        types = ["object"]
    if not types:
        raise _not_strict(place, "it has no type")
    return types


def _object(schema: Schema, place: str) -> Schema:
    properties = schema.get("properties")
    others = schema.get("additionalProperties")
    is_open = isinstance(others, dict) or "patternProperties" in schema
    if is_open or (properties is None and others is not False):
        raise _not_strict(place, "it allows properties with arbitrary names")
    unmet = unmet_requirement(schema, set(properties or {}))
    if unmet:
        raise _not_strict(place, unmet)
    required = schema.get("required", ())
    copies = {
        name: _property(schema, name, place, optional=name not in required)
        for name in properties or {}
    }
    return {"properties": copies, "required": list(copies), "additionalProperties": False}


def _array(schema: Schema, place: str) -> Schema:
    if "items" not in schema or "prefixItems" in schema:
        raise _not_strict(place, "it does not describe all items by one schema")
    contained = schema.get("contains")
    if isinstance(contained, dict) and schema.get("minContains", 1):
        items = schema["items"] if isinstance(schema["items"], dict) else {}
        unmet = unmet_requirement(contained, set(items.get("properties", ())))
        if unmet or "$ref" in contained or "$dynamicRef" in contained:
            raise _not_strict(
                place,
                f"its `contains` has a different form than its items: {unmet or 'it has $ref'}",
            )
    return {"items": _strict(schema["items"], f"{place}/items")}


_CONTAINERS: dict[str, Callable[[Schema, str], Schema]] = {"object": _object, "array": _array}


def _property(schema: Schema, name: str, place: str, *, optional: bool) -> Schema:
    copy = _strict(schema["properties"][name], f"{place}/properties{json_pointer((name,))}")
    return _nullable(copy) if optional else copy


def _nullable(copy: Schema) -> Schema:
    """Return a schema that also allows null."""
    if "anyOf" in copy:
        has_null = any(branch.get("type") == "null" for branch in copy["anyOf"])
        return copy if has_null else copy | {"anyOf": [*copy["anyOf"], {"type": "null"}]}
    if "type" not in copy or "enum" in copy or "const" in copy:
        annotations = {key: copy[key] for key in _ANNOTATIONS if key in copy}
        inner = {key: value for key, value in copy.items() if key not in annotations}
        return annotations | {"anyOf": [inner, {"type": "null"}]}
    types = [copy["type"]] if isinstance(copy["type"], str) else copy["type"]
    return copy | {"type": types if "null" in types else [*types, "null"]}


def _not_strict(place: str, problem: str) -> NotStrictError:
    return NotStrictError(f"{place or 'at its root'}: {problem}")


# --- The size limits of a strict schema
#
# OpenAI also limits a schema to 5 000 properties and to 120 000 characters in names and values. A
# tool's schema has at most 2 000 subschemas and 48 KiB, so it cannot exceed these limits.

MAX_DEPTH = 10
MAX_ENUM_VALUES = 1_000
MAX_LONG_ENUM_CHARACTERS = 15_000
_LONG_ENUM = 250


def exceeded_limit(schema: Schema) -> str:
    """Return the limit that a strict schema exceeds, or an empty string."""
    enums = list(_enums(schema))
    if sum(map(len, enums)) > MAX_ENUM_VALUES:
        return f"its enums have more than {MAX_ENUM_VALUES} values"
    if any(
        len(enum) > _LONG_ENUM and _characters(enum) > MAX_LONG_ENUM_CHARACTERS for enum in enums
    ):
        return f"an enum has more than {MAX_LONG_ENUM_CHARACTERS} characters"
    roots = (schema, *schema.get("$defs", {}).values())
    if max(map(_depth, roots)) > MAX_DEPTH:
        return f"its objects are nested deeper than {MAX_DEPTH} levels"
    return ""


def _inner(schema: Schema) -> list[Schema]:
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *items]


def _depth(schema: Schema) -> int:
    """Return the nesting depth of objects. Targets of references are counted separately."""
    deepest = max((_depth(inner) for inner in _inner(schema)), default=0)
    return deepest + ("properties" in schema)


def _enums(schema: Schema) -> Iterator[list[Any]]:
    if "enum" in schema:
        yield schema["enum"]
    for inner in (*_inner(schema), *schema.get("$defs", {}).values()):
        yield from _enums(inner)


def _characters(values: list[Any]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


# --- The conversion of arguments back to ports

_WHOLE = "/$defs/whole"


class FillerRemover:
    """The remover of filler nulls from arguments, according to the original schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._document = SchemaDocument.parse(schema)
        self._whole = relocate_pointers(schema, lambda pointer: f"{_WHOLE}{pointer}")
        self._validators: dict[str, Draft202012Validator] = {}

    def taken_away(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments without the nulls of optional properties that do not allow null."""
        cleaned = self._clean(arguments, "")
        assert isinstance(cleaned, dict)
        return cleaned

    def _clean(self, value: Any, place: str) -> Any:
        """Return a value without fillers, according to the schema at `place`."""
        schema = self._document.subschemas[place]
        if isinstance(schema, bool):
            return value
        for pointer in self._document.references(schema):
            value = self._clean(value, pointer)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = [f"{place}/{keyword}/{i}" for i in range(len(schema.get(keyword, ())))]
            value = self._clean_by_branch(value, branches)
        if isinstance(value, dict):
            return self._object(value, schema, place)
        if isinstance(value, list) and "items" in schema:
            return [self._clean(item, f"{place}/items") for item in value]
        return value

    def _clean_by_branch(self, value: Any, branches: Sequence[str]) -> Any:
        """Clean the value by the first branch that accepts the result, or return it unchanged."""
        for place in branches:
            cleaned = self._clean(value, place)
            if self._allows(place, cleaned):
                return cleaned
        return value

    def _object(self, value: dict[str, Any], schema: dict[str, Any], place: str) -> dict[str, Any]:
        places = {
            name: f"{place}/properties{json_pointer((name,))}"
            for name in schema.get("properties", {})
        }
        optional = places.keys() - set(schema.get("required", ()))
        return {
            name: self._clean(inner, places[name]) if name in places else inner
            for name, inner in value.items()
            if inner is not None or name not in optional or self._allows(places[name], None)
        }

    def _allows(self, place: str, value: Any) -> bool:
        if place not in self._validators:
            self._validators[place] = self._validator(place)
        return self._validators[place].is_valid(value)

    def _validator(self, place: str) -> "Draft202012Validator":
        import jsonschema_rs  # noqa: PLC0415 - native code, needed only when arguments are converted

        target = {"$defs": {"whole": self._whole}, "$ref": f"#{_WHOLE}{quote(place)}"}
        return jsonschema_rs.Draft202012Validator(
            target, pattern_options=linear_time_options(), offline=True
        )
