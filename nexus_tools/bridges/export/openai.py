"""OpenAI's function tools: nested for Chat Completions, flat for the Responses API.

Source: the API reference of OpenAI (`tools` of both APIs) and its guides to function calling and to
structured outputs.
"""

from typing import Any

from nexus_tools.bridges.export.arguments import Arguments, as_arguments
from nexus_tools.bridges.export.exported import ExportedTool
from nexus_tools.bridges.export.strict import NotStrictError, strict_arguments
from nexus_tools.tool import ToolDefinition

MAX_DESCRIPTION = 1_024

_REFUSED = frozenset(("oneOf", "anyOf", "allOf", "enum", "const", "not"))


def chat_tool(definition: ToolDefinition, name: str, *, strict: bool = False) -> ExportedTool:
    """The tool for Chat Completions; see `response_tool`."""
    flat = response_tool(definition, name, strict=strict)
    function = {key: value for key, value in flat.document.items() if key != "type"}
    if not function["strict"]:
        del function["strict"]  # the default here, and unknown to others who speak this API
    document = {"type": "function", "function": function}
    return ExportedTool(definition, name, document, flat.arguments, flat.warning)


def response_tool(definition: ToolDefinition, name: str, *, strict: bool = False) -> ExportedTool:
    """The tool for the Responses API.

    With `strict` its schema is the strict copy if there can be one, else a warning says why not.
    """
    arguments, warning = as_arguments(definition.input_schema, refused=_REFUSED), ""
    if strict:
        arguments, warning = _strict(definition, arguments)
    document: dict[str, Any] = {
        "type": "function",
        "name": name,
        "description": _described(definition),
        "parameters": arguments.schema,
        # The Responses API is strict unless it is told not to be.
        "strict": arguments.unfilled is not None,
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
