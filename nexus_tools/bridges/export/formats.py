"""The formats: from definitions to the document that another system reads."""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.bridges.export.anthropic import anthropic_tool
from nexus_tools.bridges.export.exported import Export, ExportedTool
from nexus_tools.bridges.export.mcp import mcp_tool
from nexus_tools.bridges.export.names import export_names
from nexus_tools.bridges.export.openai import chat_tool, response_tool
from nexus_tools.bridges.export.openapi import openapi
from nexus_tools.tool import ToolDefinition, ToolFqn

Names = dict[ToolFqn, str]


def export(definitions: Sequence[ToolDefinition], system: str, *, strict: bool = False) -> Export:
    """The document of `system`, one of `FORMATS`; tools stand in the order of their FQNs.

    `strict` is for OpenAI's formats, others take no notice of it.
    """
    ordered = sorted({each.fqn: each for each in definitions}.values(), key=lambda each: each.fqn)
    names = export_names((each.fqn for each in ordered), system)
    return FORMATS[system](ordered, names, strict)


def _chat(definitions: Sequence[ToolDefinition], names: Names, strict: bool) -> Export:
    return _listed([chat_tool(each, names[each.fqn], strict=strict) for each in definitions])


def _responses(definitions: Sequence[ToolDefinition], names: Names, strict: bool) -> Export:
    return _listed([response_tool(each, names[each.fqn], strict=strict) for each in definitions])


def _anthropic(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    return _listed([anthropic_tool(each, names[each.fqn]) for each in definitions])


def _mcp(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    tools = [mcp_tool(each, names[each.fqn]) for each in definitions]
    return Export({"tools": [tool.document for tool in tools]}, tuple(tools))


def _openapi(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    return openapi(definitions, names)


def _listed(tools: list[ExportedTool]) -> Export:
    """The array that goes into a request as `tools`."""
    return Export([tool.document for tool in tools], tuple(tools))


FORMATS: dict[str, Callable[[Sequence[ToolDefinition], Names, Any], Export]] = {
    "openai": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "mcp": _mcp,
    "openapi": _openapi,
}
