"""What an exported tool says of itself: the documents in its folder `config`."""

from typing import Any

from nexus_tools.bridges.export.names import export_names
from nexus_tools.tool import ToolDefinition
from nexus_tools.tool.schema import check_output_schema

AUTHORIZATION_VARIABLE = "NEXUS_TOOL_AUTHORIZATION"
URL_VARIABLE = "NEXUS_TOOL_URL"

_ADAPTERS = ("languageModels", "embeddingServices", "vectorStores", "textExtractors", "ocrs")
_INPUT = "Nothing of the file is read: the settings are the tool's input."
_OUTPUT = "The tool's outcome, {variant: {port: value}}, as a JSON file."


def function_name(definition: ToolDefinition) -> str:
    """The tool's name as the name of a Python function and of an image."""
    return export_names([definition.fqn], "unstract")[definition.fqn].replace("-", "_")


def display_name(definition: ToolDefinition) -> str:
    """The tool's name for people."""
    words = definition.fqn.name.replace("-", " ").replace("_", " ").split()
    return " ".join(word.capitalize() for word in words) or definition.fqn.name


def properties(definition: ToolDefinition) -> dict[str, Any]:
    """`properties.json` in both spellings: the SDK's camelCase, and that of the document."""
    version = f"{definition.fqn.version}.0.0"
    name, title = function_name(definition), display_name(definition)
    description = definition.description or f"Calls the tool {definition.fqn}"
    return {
        "schemaVersion": "0.0.1",
        "displayName": title,
        "functionName": name,
        "toolVersion": version,
        "description": description,
        "input": {"description": _INPUT},
        "output": {"description": _OUTPUT},
        "result": {
            "type": "JSON",
            "description": _OUTPUT,
            "schema": definition.output_schema,
        },
        "adapter": {kind: [{"isEnabled": False}] for kind in _ADAPTERS},
        "ioCompatibility": _io_compatibility(),
        "restrictions": {"maxFileSize": "200MB", "allowedFileTypes": ["*"]},
        "display_name": title,
        "function_name": name,
        "parameters": [],
        "versions": [version],
        "is_cacheable": False,
        "input_type": "file",
        "output_type": "file",
        "requires": {
            "files": {"input": False, "output": True},
            "databases": {"input": False, "output": False},
        },
    }


def spec(definition: ToolDefinition) -> dict[str, Any]:
    """`spec.json`: the input schema, with a title and a description for the form."""
    titles = {
        "title": display_name(definition),
        "description": definition.description or f"Input of {definition.fqn}",
    }
    return titles | definition.input_schema


def runtime_variables(definition: ToolDefinition) -> dict[str, Any]:
    """`runtime_variables.json`: both are optional."""
    return {
        "title": "Runtime Variables",
        "description": f"Runtime Variables for {display_name(definition)}",
        "type": "object",
        "required": [],
        "properties": {
            URL_VARIABLE: {
                "type": "string",
                "title": "URL of the tool",
                "description": f"Where the tool is called, if not at {definition.url}",
            },
            AUTHORIZATION_VARIABLE: {
                "type": "string",
                "title": "Authorization",
                "description": "A bearer token for the tool, or scheme and credentials",
            },
        },
    }


def call_settings(definition: ToolDefinition, timeout_ms: int) -> dict[str, Any]:
    """`definition.json`: what the program needs to call the tool; `call_timeout` is in ms."""
    variants = list(check_output_schema(definition.output_schema).variants)
    return {
        "fqn": str(definition.fqn),
        "url": definition.url,
        "function_name": function_name(definition),
        "call_timeout": timeout_ms,
        "input_schema": definition.input_schema,
        "variants": variants,
    }


def _io_compatibility() -> dict[str, Any]:
    both = {"sourceSupport": True, "destinationSupport": True}
    return {
        "api": {**both, "additionalArgs": {"sync": True}},
        "file": {**both, "additionalArgs": {}},
        "db": {"destinationSupport": True, "additionalArgs": {}},
    }
