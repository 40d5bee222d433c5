"""How large a strict schema may be (OpenAI, structured outputs, "Supported schemas").

The limits of 5 000 properties and of 120 000 characters in names and values need no check: a tool's
schema has 2 000 subschemas and 48 KiB at most.
"""

from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 10
MAX_ENUM_VALUES = 1_000
MAX_LONG_ENUM_CHARACTERS = 15_000
_LONG_ENUM = 250

Schema = dict[str, Any]


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
