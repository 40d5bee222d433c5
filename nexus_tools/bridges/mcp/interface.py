"""The schemas of an MCP tool as those of a Nexus tool, and its results as outcomes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.mcp.listing import ListedTool
from nexus_tools.bridges.schemas.json_schema_upgrade import as_2020_12
from nexus_tools.bridges.schemas.ports import PortMapping, map_ports
from nexus_tools.bridges.schemas.variants import error, error_ports, object_of, output_schema
from nexus_tools.errors import ValidationError
from nexus_tools.tool import SchemaDocument, measure, relocated

RESULT_PORT = "result"
"""Where structured content stands whose members are no ports, or that is no object."""

_BLOCKS = {
    "type": "array",
    "description": "The blocks as they were sent: text, image, audio, resource, resource_link.",
    "items": {
        "type": "object",
        "properties": {"type": {"type": "string"}},
        "required": ["type"],
    },
}
_UNSTRUCTURED = object_of(
    {
        "content": _BLOCKS,
        "text": {"type": "string", "description": "The content, if all of it is text."},
        "structured": {"description": "Structured content, which has no schema here."},
    },
    required=["content"],
)
_ERROR = error_ports(
    content=_BLOCKS,
    code={"type": "integer", "description": "The code of a JSON-RPC error."},
)


@dataclass(frozen=True, slots=True)
class Interface:
    """How ports become arguments, and a `tools/call` result the output of a tool."""

    inputs: PortMapping
    outputs: PortMapping | None
    is_wrapped: bool
    output_schema: dict[str, Any]

    @classmethod
    def of(cls, tool: ListedTool) -> "Interface":
        """The interface of a listed tool; raises `ValidationError` for schemas that cannot be."""
        inputs = map_ports(as_2020_12(tool.input_schema))
        declared = tool.output_schema
        if declared is None:
            return cls(inputs, None, False, output_schema({"ok": _UNSTRUCTURED, "err": _ERROR}))
        schema = as_2020_12(declared)
        is_wrapped = schema.get("type") != "object"
        outputs = map_ports(_as_result(schema) if is_wrapped else schema, wrapped=RESULT_PORT)
        ok = outputs.schema
        return cls(inputs, outputs, is_wrapped, output_schema({"ok": ok, "err": _ERROR}))

    def output(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The output, `{variant: {port: value}}`, for a result that the protocol allows.

        An error of the tool, a demand for input that nobody can give, and structured content that
        is missing are `err`.
        """
        kind = result.get("resultType", "complete")
        if kind != "complete":
            return error(_unfinished(kind, result), type=str(kind))
        blocks = list(result.get("content", ()))
        if result.get("isError", False):
            return _error(_text(blocks) or "the tool reports an error and says no more", blocks)
        if self.outputs is None:
            return {"ok": _unstructured(blocks, result)}
        if "structuredContent" not in result:
            problem = "the tool declares an output schema and gave no structured content"
            return _error(problem, blocks)
        return self._structured(result["structuredContent"], blocks)

    def _structured(self, content: Any, blocks: list[Any]) -> dict[str, Any]:
        assert self.outputs is not None
        if self.is_wrapped:
            content = {RESULT_PORT: content}
        if not isinstance(content, dict):
            return _error("the structured content is no object, as was declared", blocks)
        return {"ok": self.outputs.to_ports(content)}


def _as_result(schema: dict[str, Any]) -> dict[str, Any]:
    """An object whose one property is what the schema describes."""
    document = SchemaDocument.parse(schema)
    moved = relocated(document, lambda pointer: f"/properties/{RESULT_PORT}{pointer}")
    return object_of({RESULT_PORT: moved}, required=[RESULT_PORT])


def _unstructured(blocks: list[Any], result: Mapping[str, Any]) -> dict[str, Any]:
    ports: dict[str, Any] = {"content": blocks}
    text = _text(blocks)
    if text is not None:
        ports["text"] = text
    if "structuredContent" in result:
        ports["structured"] = result["structuredContent"]
    return ports


def _text(blocks: list[Any]) -> str | None:
    """The text of blocks that are all text; None if there is none or one that is not."""
    if not blocks or any(block.get("type") != "text" for block in blocks):
        return None
    return "\n".join(block["text"] for block in blocks)


def _unfinished(kind: Any, result: Mapping[str, Any]) -> str:
    if kind != "input_required":
        return f"the server responds with a result of the kind {str(kind)[:80]!r}, not the tool's"
    requests = result.get("inputRequests") or {}
    methods = sorted({str(each.get("method")) for each in requests.values()})
    return f"the tool asks for input that nobody is here to give: {', '.join(methods) or 'unsaid'}"


def _error(reason: str, blocks: list[Any]) -> dict[str, Any]:
    return error(reason, content=blocks if _is_json(blocks) else None)


def _is_json(value: Any) -> bool:
    """Whether an output may have it: not too deep, no NaN, no half surrogate pair."""
    try:
        measure(value)
        json.dumps(value, allow_nan=False)
    except (ValidationError, ValueError):
        return False
    return True
