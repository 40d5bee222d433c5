"""Anthropic's tools: `{name, description, input_schema}`.

Source: the API reference of Anthropic (`tools` of the Messages API) and what that API refuses: a
union at the top of a schema, and names of properties that are not `[a-zA-Z0-9_.-]{1,64}`.
"""

from nexus_tools.bridges.export.arguments import as_arguments
from nexus_tools.bridges.export.exported import ExportedTool
from nexus_tools.tool import ToolDefinition

_REFUSED = frozenset(("oneOf", "anyOf", "allOf"))
_LONGEST_PROPERTY = 64


def anthropic_tool(definition: ToolDefinition, name: str) -> ExportedTool:
    """The tool for the Messages API."""
    arguments = as_arguments(
        definition.input_schema, refused=_REFUSED, longest_name=_LONGEST_PROPERTY
    )
    document = {
        "name": name,
        "description": definition.description or str(definition.fqn),
        "input_schema": arguments.schema,
    }
    return ExportedTool(definition, name, document, arguments)
