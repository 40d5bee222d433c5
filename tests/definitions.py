"""Tool definitions for the tests of exports and of the MCP server."""

from nexus_tools.tool import ToolDefinition

OK = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}


def make_definition(fqn="xyz.example.math.add@1", **changes):
    """Return a definition; its input schema describes an object unless `changes` replace it."""
    schema = changes.pop("input_schema", {})
    branch = {"type": "object", "properties": {"ok": OK}, "required": ["ok"]}
    document = {
        "fqn": fqn,
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "input_schema": {"type": "object", **schema},
        "output_schema": {"type": "object", "oneOf": [branch]},
    }
    return ToolDefinition.parse(document | changes)
