"""The one-line summary of ports, for users and for language models that search for a tool."""

import json
from collections.abc import Mapping
from typing import Any

from nexus_tools.tool.schemas.schema import variants

_MAX_ALTERNATIVES = 5
_MAX_DEPTH = 5
_MAX_VALUES = 10


def port_summary(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> str:
    """Return the names and types of the ports of a schema, with `?` after optional names.

    For example, `text: string, words?: array of string, note?: string or null`. `definitions` are
    the `$defs` of an outer schema. A reference to an enum is replaced by the values of the enum.
    """
    required = schema.get("required", [])
    definitions = _mapping(definitions) | _mapping(schema.get("$defs"))
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(port, definitions)}"
        for name, port in schema.get("properties", {}).items()
    )


def port_type(port: Any) -> str:
    """Return the types that the schema of a port accepts, such as `array of string`."""
    return _kind(port, {})


def ports_without_text(input_schema: dict[str, Any], output_schema: dict[str, Any]) -> list[str]:
    """Return the ports that have neither a title nor a description, such as `text` and `ok.result`.

    Both schemas must be valid.
    """
    outputs = variants(output_schema).items()
    schemas = [("", input_schema), *((f"{variant}.", schema) for variant, schema in outputs)]
    return [
        f"{prefix}{name}"
        for prefix, schema in schemas
        for name, port in schema.get("properties", {}).items()
        if not (isinstance(port, Mapping) and (port.get("title") or port.get("description")))
    ]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _kind(port: Any, definitions: dict[str, Any], depth: int = 0) -> str:
    kinds = _kinds(port, definitions, depth)
    if len(kinds) > _MAX_ALTERNATIVES:
        kinds = [*kinds[:_MAX_ALTERNATIVES], "more"]
    return " or ".join(kinds)


def _kinds(port: Any, definitions: dict[str, Any], depth: int) -> list[str]:
    """Return the types that a port accepts, without duplicates and with `null` at the end."""
    if not isinstance(port, dict) or depth > _MAX_DEPTH:
        return ["any"]
    if "enum" in port:
        return [_values(port["enum"])]
    if "const" in port:
        return [_shown(port["const"])]
    if "$ref" in port:
        name = str(port["$ref"]).rpartition("/")[2]
        target = definitions.get(name)
        is_enum = isinstance(target, dict) and isinstance(target.get("enum"), list)
        return [_values(target["enum"]) if target and is_enum else name]
    branches = port.get("anyOf") or port.get("oneOf")
    if branches and "type" not in port:
        kinds = [kind for branch in branches for kind in _kinds(branch, definitions, depth + 1)]
    else:
        types = port.get("type", "any")
        kinds = [types] if isinstance(types, str) else list(types)
    if "array" in kinds and "items" in port:
        kinds[kinds.index("array")] = _array_of(port["items"], definitions, depth)
    return sorted(dict.fromkeys(kinds), key=lambda kind: kind == "null")


def _values(values: list[Any]) -> str:
    """Return the values of an enum, and `more` in place of the values beyond the maximum."""
    more = ["more"] if len(values) > _MAX_VALUES else []
    return " | ".join([*map(_shown, values[:_MAX_VALUES]), *more])


def _array_of(items: Any, definitions: dict[str, Any], depth: int) -> str:
    kinds = _kinds(items, definitions, depth + 1)
    of = _kind(items, definitions, depth + 1)
    return f"array of ({of})" if len(kinds) > 1 else f"array of {of}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
