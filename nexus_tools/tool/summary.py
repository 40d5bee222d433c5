"""Ports on one line, for people and for models that look for a tool."""

from typing import Any


def port_summary(schema: dict[str, Any]) -> str:
    """Names and types of the ports of a schema, with `?` where one may be absent.

    So `text: string, word?: string`.
    """
    required = schema.get("required", [])
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(port)}"
        for name, port in schema.get("properties", {}).items()
    )


def _kind(port: Any) -> str:
    if not isinstance(port, dict):
        return "any"
    if "enum" in port:
        return " | ".join(str(value) for value in port["enum"][:5])
    if "$ref" in port:
        return str(port["$ref"]).rpartition("/")[2]
    kind = port.get("type", "any")
    if kind == "array" and "items" in port:
        return f"array of {_kind(port['items'])}"
    return " | ".join(kind) if isinstance(kind, list) else str(kind)
