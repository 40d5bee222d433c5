"""The export formats: conversion of definitions to the documents of other systems.

Sources: OpenAI's API reference (`tools` of both APIs, function calling, structured outputs) and
Anthropic's (`tools` of the Messages API). For MCP: `Tool` in the Model Context Protocol, 2026-07-28
and 2025-11-25. In MCP, both schemas have the type `object` at their root.
Anthropic rejects a union at the root of a schema, and names of properties that are not
`[a-zA-Z0-9_.-]{1,64}`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nexus_tools.export.exported import (
    Arguments,
    Export,
    Exportable,
    ExportedTool,
    close_schema,
    to_arguments_schema,
)
from nexus_tools.export.gemini import gemini_tool
from nexus_tools.export.names import export_names
from nexus_tools.export.openapi import openapi
from nexus_tools.export.safe_text import sanitize_definitions
from nexus_tools.export.strict import NotStrictError, strict_arguments
from nexus_tools.tool import ANNOTATIONS, ToolDefinition, ToolFqn, read_annotations

Names = dict[ToolFqn, str]


def export_tools(
    definitions: Sequence[ToolDefinition], system: str, *, strict: bool = False
) -> Export:
    """Return the document of `system`, one of `FORMATS`, with tools in the order of their FQNs.

    `strict` applies to OpenAI's formats. Other formats ignore `strict`.
    """
    ordered = sorted({tool.fqn: tool for tool in definitions}.values(), key=lambda tool: tool.fqn)
    displayable_tools, skipped = sanitize_definitions(ordered)
    names = export_names((definition.fqn for definition in displayable_tools), system)
    export = FORMATS[system](displayable_tools, names, strict)
    return replace(export, skipped=(*skipped, *export.skipped))


def _chat(definitions: Sequence[ToolDefinition], names: Names, strict: bool) -> Export:
    return _listed([chat_tool(tool, names[tool.fqn], strict=strict) for tool in definitions])


def _responses(definitions: Sequence[ToolDefinition], names: Names, strict: bool) -> Export:
    return _listed([response_tool(tool, names[tool.fqn], strict=strict) for tool in definitions])


def _anthropic(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    return _listed([anthropic_tool(tool, names[tool.fqn]) for tool in definitions])


def _gemini(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    """Return the only entry of a request's `tools`, which has all function declarations."""
    tools = tuple(gemini_tool(definition, names[definition.fqn]) for definition in definitions)
    return Export({"functionDeclarations": [tool.document for tool in tools]}, tools)


def _mcp(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    tools = [mcp_tool(definition, names[definition.fqn]) for definition in definitions]
    return Export({"tools": [tool.document for tool in tools]}, tuple(tools))


def _openapi(definitions: Sequence[ToolDefinition], names: Names, _: bool) -> Export:
    return openapi(definitions, names)


def _listed(tools: list[ExportedTool]) -> Export:
    """Return the array for the field `tools` of a request."""
    return Export([tool.document for tool in tools], tuple(tools))


# --- OpenAI: nested objects for Chat Completions, and flat objects for the Responses API

MAX_DESCRIPTION = 1_024

_REFUSED_BY_OPENAI = frozenset(("oneOf", "anyOf", "allOf", "enum", "const", "not"))


def chat_tool(definition: ToolDefinition, name: str, *, strict: bool = False) -> ExportedTool:
    """Return the tool for Chat Completions, with the schema of `response_tool`."""
    flat = response_tool(definition, name, strict=strict)
    function = {key: value for key, value in flat.document.items() if key != "type"}
    if not function["strict"]:
        del function["strict"]  # False is the default, and other services may reject the field
    document = {"type": "function", "function": function}
    return ExportedTool(definition, name, document, flat.arguments, flat.warning)


def response_tool(definition: ToolDefinition, name: str, *, strict: bool = False) -> ExportedTool:
    """Return the tool for the Responses API.

    With `strict`, the tool's schema is a strict copy of the input schema. If a strict copy is not
    possible, a warning gives the reason.
    """
    arguments, warning = (
        to_arguments_schema(definition.input_schema, refused=_REFUSED_BY_OPENAI),
        "",
    )
    if strict:
        arguments, warning = _strict(definition, arguments)
    is_strict = arguments.unfilled is not None
    document: dict[str, Any] = {
        "type": "function",
        "name": name,
        "description": _described(definition),
        "parameters": arguments.schema if is_strict else close_schema(arguments.schema),
        # The Responses API is strict by default.
        "strict": is_strict,
    }
    return ExportedTool(definition, name, document, arguments, warning)


def _strict(definition: ToolDefinition, arguments: Arguments) -> tuple[Arguments, str]:
    try:
        return strict_arguments(arguments), ""
    except NotStrictError as error:
        return arguments, f"{definition.fqn} cannot be strict: {error}"


def _described(definition: ToolDefinition) -> str:
    text = definition.description or str(definition.fqn)
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"


# --- Anthropic

_REFUSED_BY_ANTHROPIC = frozenset(("oneOf", "anyOf", "allOf"))
_LONGEST_PROPERTY = 64


def anthropic_tool(definition: ToolDefinition, name: str) -> ExportedTool:
    """Return the tool for the Messages API."""
    arguments = to_arguments_schema(
        definition.input_schema, refused=_REFUSED_BY_ANTHROPIC, longest_name=_LONGEST_PROPERTY
    )
    document = {
        "name": name,
        "description": definition.description or str(definition.fqn),
        "input_schema": arguments.schema,
    }
    return ExportedTool(definition, name, document, arguments)


# --- MCP: the format in which our MCP server lists tools


def mcp_tool(definition: ToolDefinition, name: str) -> ExportedTool:
    """Return the tool with the document of `mcp_document`."""
    document = mcp_document(definition, name)
    return ExportedTool(definition, name, document, Arguments(document["inputSchema"]))


def mcp_document(lent: Exportable, name: str) -> dict[str, Any]:
    """Return a definition as an entry of `tools/list`. `_meta` has the FQN, type, and timeout."""
    annotations = read_annotations(lent.input_schema)
    schema = {key: value for key, value in lent.input_schema.items() if key != ANNOTATIONS}
    title = annotations.get("title")
    return {
        "name": name,
        "title": f"{title} ({lent.fqn})" if title else str(lent.fqn),
        "description": lent.description,
        # Some clients require `properties` and `items`.
        "inputSchema": close_schema(_of_type_object(schema)),
        "outputSchema": _of_type_object(lent.output_schema),
        **({"annotations": annotations} if annotations else {}),
        "_meta": {
            "nexus/fqn": str(lent.fqn),
            "nexus/type": str(lent.type),
            "nexus/timeout_ms": lent.timeout_ms,
        },
    }


def _of_type_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with an explicit type `object`."""
    return {"type": "object", **schema}


# --- All formats

FORMATS: dict[str, Callable[[Sequence[ToolDefinition], Names, Any], Export]] = {
    "openai": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "mcp": _mcp,
    "gemini": _gemini,
    "openapi": _openapi,
}
