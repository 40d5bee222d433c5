"""The one-line summary of ports, for users and for language models that search for a tool."""

import json
from typing import Any

_MAX_ALTERNATIVES = 5
_MAX_DEPTH = 5


def port_summary(schema: dict[str, Any]) -> str:
    """Return the names and types of the ports of a schema, with `?` after optional names.

    For example, `text: string, words?: array of string, note?: string or null`.
    """
    required = schema.get("required", [])
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(port)}"
        for name, port in schema.get("properties", {}).items()
    )


def _kind(port: Any, depth: int = 0) -> str:
    kinds = _kinds(port, depth)
    if len(kinds) > _MAX_ALTERNATIVES:
        kinds = [*kinds[:_MAX_ALTERNATIVES], "more"]
    return " or ".join(kinds)


def _kinds(port: Any, depth: int) -> list[str]:
    """Return the types that a port accepts, without duplicates and with `null` at the end."""
    if not isinstance(port, dict) or depth > _MAX_DEPTH:
        return ["any"]
    if "enum" in port:
        return [" | ".join(map(_shown, port["enum"][:_MAX_ALTERNATIVES]))]
    if "const" in port:
        return [_shown(port["const"])]
    if "$ref" in port:
        return [str(port["$ref"]).rpartition("/")[2]]
    branches = port.get("anyOf") or port.get("oneOf")
    if branches and "type" not in port:
        kinds = [kind for branch in branches for kind in _kinds(branch, depth + 1)]
    else:
        types = port.get("type", "any")
        kinds = [types] if isinstance(types, str) else list(types)
    if "array" in kinds and "items" in port:
        kinds[kinds.index("array")] = _array_of(port["items"], depth)
    return sorted(dict.fromkeys(kinds), key=lambda kind: kind == "null")


def _array_of(items: Any, depth: int) -> str:
    kinds = _kinds(items, depth + 1)
    of = _kind(items, depth + 1)
    return f"array of ({of})" if len(kinds) > 1 else f"array of {of}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
