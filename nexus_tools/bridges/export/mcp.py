"""MCP's `Tool`, as our MCP server lists it.

Source: the Model Context Protocol, 2026-07-28 and 2025-11-25, `Tool`: both schemas have the type
`object` at their root.
"""

from typing import Any

from nexus_tools.bridges.export.arguments import Arguments
from nexus_tools.bridges.export.exported import ExportedTool
from nexus_tools.tool import ToolDefinition


def mcp_tool(definition: ToolDefinition, name: str) -> ExportedTool:
    """The tool as an entry of `tools/list`; `_meta` keeps what the name cannot say."""
    arguments = Arguments(_of_type_object(definition.input_schema))
    document = {
        "name": name,
        "title": str(definition.fqn),
        "description": definition.description,
        "inputSchema": arguments.schema,
        "outputSchema": _of_type_object(definition.output_schema),
        "_meta": {
            "nexus/fqn": str(definition.fqn),
            "nexus/type": definition.type.value,
            "nexus/timeout_ms": definition.timeout_ms,
        },
    }
    return ExportedTool(definition, name, document, arguments)


def _of_type_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the type that it has, spelled out."""
    return {"type": "object", **schema}
