"""The comparison of served schemas with registered schemas, which never change."""

from collections.abc import Iterable
from contextlib import suppress

from nexus_tools.errors import ValidationError
from nexus_tools.registry.tools.tool_registry import ToolRegistry
from nexus_tools.tool import ToolDefinition


async def compare_interfaces(
    tools: ToolRegistry, definitions: Iterable[ToolDefinition]
) -> dict[str, bool]:
    """Return by FQN whether a definition has the registered schemas, without unregistered tools.

    Leaders refuse to call a tool whose served schemas differ from the registered schemas.
    """
    results = {}
    for definition in definitions:
        tool = await tools.find(definition.fqn)
        if tool is not None:
            with suppress(ValidationError):  # Leaders refuse this tool for another reason
                registered = tool.definition.parse(check_schemas=False)
                results[tool.fqn] = definition.has_same_interface(registered)
    return results
