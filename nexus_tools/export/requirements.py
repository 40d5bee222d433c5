"""The requirements that an object schema makes in addition to its `properties`."""

from collections.abc import Iterator
from typing import Any

from nexus_tools.tool import direct_subschemas

Schema = dict[str, Any]

# Keywords whose subschemas apply to the same object, and may require further names.
_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"))
_REFERENCES = ("$ref", "$dynamicRef")


def unmet_requirement(schema: Schema, names: set[str]) -> str:
    """Return why no object with only these names can satisfy the schema, or an empty string.

    A condition such as `dependentRequired` counts as if it always applied.
    """
    for subschema in _in_place(schema):
        required = [*subschema.get("required", ()), *_dependent_names(subschema)]
        missing = [name for name in required if name not in names]
        if missing:
            return f"it requires {missing[0][:80]!r} without describing it"
        if subschema.get("minProperties", 0) > len(names):
            return "it requires more properties than it describes"
        if subschema is not schema and any(keyword in subschema for keyword in _REFERENCES):
            return "one of its conditions refers to another schema"
    return ""


def _in_place(schema: Schema) -> Iterator[Schema]:
    """Yield the schema and the subschemas that apply to the same value."""
    yield schema
    for keyword, _, member in direct_subschemas("", schema):
        if keyword in _IN_PLACE and isinstance(member, dict):
            yield from _in_place(member)


def _dependent_names(schema: Schema) -> list[str]:
    return [name for names in schema.get("dependentRequired", {}).values() for name in names]
