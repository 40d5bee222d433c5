"""The conversion of MCP tools to Nexus tools: their schemas, and their results to outcomes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.mcp.listing import ListedTool
from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import (
    closed_object_schema,
    error,
    error_schema,
    output_schema,
)
from nexus_tools.errors import ValidationError
from nexus_tools.tool import SchemaDocument, measure, relocated

RESULT_PORT = "result"
"""The port for structured content that cannot be converted to separate ports."""

_BLOCKS = {
    "type": "array",
    "description": "The blocks from the server: text, image, audio, resource, resource_link.",
    "items": {
        "type": "object",
        "properties": {"type": {"type": "string"}},
        "required": ["type"],
    },
}
_UNSTRUCTURED = closed_object_schema(
    {
        "content": _BLOCKS,
        "text": {"type": "string", "description": "The content, if all of it is text."},
        "structured": {"description": "Structured content, which has no schema here."},
    },
    required=["content"],
)
_ERROR = error_schema(
    content=_BLOCKS,
    code={"type": "integer", "description": "The code of a JSON-RPC error."},
)


@dataclass(frozen=True, slots=True)
class Interface:
    """The conversion of ports to arguments, and of a `tools/call` result to an output."""

    inputs: PortMapping
    outputs: PortMapping | None
    is_wrapped: bool
    output_schema: dict[str, Any]

    @classmethod
    def of(cls, tool: ListedTool) -> "Interface":
        """Return the interface of a listed tool.

        Raises:
            ValidationError: if its schemas are not supported.
        """
        inputs = map_ports(upgrade_schema(tool.input_schema))
        declared = tool.output_schema
        if declared is None:
            return cls(inputs, None, False, output_schema({"ok": _UNSTRUCTURED, "err": _ERROR}))
        schema = upgrade_schema(declared)
        is_wrapped = schema.get("type") != "object"
        outputs = map_ports(_as_result(schema) if is_wrapped else schema, wrapped=RESULT_PORT)
        ok = outputs.schema
        return cls(inputs, outputs, is_wrapped, output_schema({"ok": ok, "err": _ERROR}))

    def output(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the output, `{variant: {port: value}}`, for a result that the protocol allows.

        An error of the tool, a request for user input, and missing structured content become `err`.
        """
        kind = result.get("resultType", "complete")
        if kind != "complete":
            return error(_unfinished(kind, result), type=str(kind))
        blocks = list(result.get("content", ()))
        if result.get("isError", False):
            return _error(_text(blocks) or "the tool reported an error without a message", blocks)
        if self.outputs is None:
            return {"ok": _unstructured(blocks, result)}
        if "structuredContent" not in result:
            problem = "the tool declares an output schema but returned no structured content"
            return _error(problem, blocks)
        return self._structured(result["structuredContent"], blocks)

    def _structured(self, content: Any, blocks: list[Any]) -> dict[str, Any]:
        assert self.outputs is not None
        if self.is_wrapped:
            content = {RESULT_PORT: content}
        if not isinstance(content, dict):
            return _error("the structured content must be an object, as declared", blocks)
        return {"ok": self.outputs.to_ports(content)}


def _as_result(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose only property has the given schema."""
    document = SchemaDocument.parse(schema)
    inner = relocated(document, lambda pointer: f"/properties/{RESULT_PORT}{pointer}")
    return closed_object_schema({RESULT_PORT: inner}, required=[RESULT_PORT])


def _unstructured(blocks: list[Any], result: Mapping[str, Any]) -> dict[str, Any]:
    ports: dict[str, Any] = {"content": blocks}
    text = _text(blocks)
    if text is not None:
        ports["text"] = text
    if "structuredContent" in result:
        ports["structured"] = result["structuredContent"]
    return ports


def _text(blocks: list[Any]) -> str | None:
    """Return the text of blocks that are all text, or None."""
    if not blocks or any(block.get("type") != "text" for block in blocks):
        return None
    return "\n".join(block["text"] for block in blocks)


def _unfinished(kind: Any, result: Mapping[str, Any]) -> str:
    if kind != "input_required":
        return f"unexpected result type {str(kind)[:80]!r}"
    requests = result.get("inputRequests") or {}
    methods = sorted({str(request.get("method")) for request in requests.values()})
    return (
        f"the tool requests user input, which is not supported: {', '.join(methods) or 'unknown'}"
    )


def _error(reason: str, blocks: list[Any]) -> dict[str, Any]:
    return error(reason, content=blocks if _is_json(blocks) else None)


def _is_json(value: Any) -> bool:
    """Return whether an output may contain the value: bounded depth, no NaN, valid Unicode."""
    try:
        measure(value)
        json.dumps(value, allow_nan=False)
    except (ValidationError, ValueError):
        return False
    return True
