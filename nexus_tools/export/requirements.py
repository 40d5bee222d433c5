"""What a schema demands of an object beyond the properties that it describes."""

from collections.abc import Iterator
from typing import Any

from nexus_tools.tool import direct_subschemas

Schema = dict[str, Any]

# Keywords whose subschemas apply to the same object, and may require names of it.
_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"))
_REFERENCES = ("$ref", "$dynamicRef")


def unmet_demand(schema: Schema, names: set[str]) -> str:
    """Return why no object with these names alone may satisfy the schema, or an empty text.

    A condition such as `dependentRequired` counts as if it always applied.
    """
    for each in _in_place(schema):
        required = [*each.get("required", ()), *_dependent_names(each)]
        missing = [name for name in required if name not in names]
        if missing:
            return f"it does not describe {missing[0][:80]!r}, which it requires"
        if each.get("minProperties", 0) > len(names):
            return "it requires more properties than it describes"
        if each is not schema and any(keyword in each for keyword in _REFERENCES):
            return "a condition in it refers to another schema"
    return ""


def _in_place(schema: Schema) -> Iterator[Schema]:
    """Yield the schema, and the subschemas that apply to the same value."""
    yield schema
    for keyword, _, member in direct_subschemas("", schema):
        if keyword in _IN_PLACE and isinstance(member, dict):
            yield from _in_place(member)


def _dependent_names(schema: Schema) -> list[str]:
    return [name for names in schema.get("dependentRequired", {}).values() for name in names]
