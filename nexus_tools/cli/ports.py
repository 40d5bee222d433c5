"""The ports of a schema, for people."""

from typing import Any


def ports_in_words(schema: dict[str, Any]) -> str:
    """Names and types on a line, with `?` behind what may be absent: `a: string, b?: integer`."""
    required = schema.get("required", [])
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_type_in_words(port)}"
        for name, port in schema.get("properties", {}).items()
    )


def _type_in_words(port: Any) -> str:
    if not isinstance(port, dict):
        return "any"
    if "enum" in port:
        return " | ".join(str(value) for value in port["enum"][:5])
    if "$ref" in port:
        return str(port["$ref"]).rpartition("/")[2]
    kind = port.get("type", "any")
    if kind == "array" and "items" in port:
        return f"array of {_type_in_words(port['items'])}"
    return " | ".join(kind) if isinstance(kind, list) else str(kind)
