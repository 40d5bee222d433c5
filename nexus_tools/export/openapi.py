"""One OpenAPI document for many tools, with an operation `POST <url>/invoke` for each tool.

Sources: OpenAPI Specification 3.1.1, and RFC 9457 for the problem documents of tool servers.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from nexus_tools.export.exported import Arguments, Export, ExportedTool, relocate_pointers
from nexus_tools.tool import DIALECT, ToolDefinition, ToolFqn, ToolType, protocol

OPENAPI_VERSION = "3.1.1"

_SCHEMAS = "/components/schemas"
_PROBLEMS = {
    "422": ("InputInvalid", "The ports do not match the schema. `errors` lists the locations."),
    "429": ("Busy", "The tool is busy. Try again after `Retry-After`."),
    "4XX": ("Refused", "The tool refused the call."),
    "5XX": ("Broken", "The tool failed, is not ready, or exceeded its time limit (504)."),
}


def openapi(definitions: Sequence[ToolDefinition], names: Mapping[ToolFqn, str]) -> Export:
    """Return the document of all tools that HTTP can reach, with their schemas as components."""
    reachable, skipped = callable_by_http(definitions)
    paths_by_fqn, without_path = server_paths(reachable)
    tools = [_tool(tool, names[tool.fqn]) for tool in reachable if tool.fqn in paths_by_fqn]
    components: dict[str, Any] = {"Problem": _PROBLEM}
    paths = {}
    for tool in tools:
        server, path = paths_by_fqn[tool.definition.fqn]
        paths[path] = {"servers": [{"url": server}], "post": tool.document}
        components |= _components(tool)
    document = {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Nexus tools",
            "version": "1",
            "summary": "Registered tools, one operation for each.",
        },
        "jsonSchemaDialect": DIALECT,
        "paths": paths,
        "components": {"schemas": components, "responses": _RESPONSES},
    }
    return Export(document, tuple(tools), (*skipped, *without_path))


def _tool(definition: ToolDefinition, name: str) -> ExportedTool:
    problems = {
        code: {"$ref": f"#/components/responses/{key}"} for code, (key, _) in _PROBLEMS.items()
    }
    operation = {
        "operationId": name,
        "summary": str(definition.fqn),
        "description": definition.description,
        "parameters": [_IDEMPOTENCY_KEY],
        "requestBody": {"required": True, "content": _content(f"{name}_input")},
        "responses": {
            "200": {
                "description": "A variant with its ports.",
                "content": _content(f"{name}_output"),
            },
            **problems,
        },
        "x-nexus-fqn": str(definition.fqn),
        "x-nexus-timeout-ms": definition.timeout_ms,
    }
    return ExportedTool(definition, name, operation, Arguments(definition.input_schema))


def _components(tool: ExportedTool) -> dict[str, Any]:
    """Return both schemas as registered, with references to their locations in the document."""
    schemas = {
        f"{tool.name}_input": tool.definition.input_schema,
        f"{tool.name}_output": tool.definition.output_schema,
    }
    return {key: _component(key, schema) for key, schema in schemas.items()}


def _component(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return relocate_pointers(schema, lambda pointer: f"{_SCHEMAS}/{key}{pointer}")


def _content(key: str) -> dict[str, Any]:
    return {protocol.JSON: {"schema": {"$ref": f"#{_SCHEMAS}/{key}"}}}


_IDEMPOTENCY_KEY = {
    "name": protocol.IDEMPOTENCY_KEY_HEADER,
    "in": "header",
    "description": "A repeated call with the same key receives the first response.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
_PROBLEM = {
    "type": "object",
    "description": "A problem document (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "A stable identifier for programs."},
        "errors": {
            "type": "array",
            "description": "The problems of the input, with their locations.",
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
                "required": ["pointer", "detail"],
            },
        },
    },
}
_RESPONSES: dict[str, Any] = {
    key: {
        "description": text,
        "content": {protocol.PROBLEM_JSON: {"schema": {"$ref": f"#{_SCHEMAS}/Problem"}}},
    }
    for key, text in _PROBLEMS.values()
}
_RESPONSES["Busy"]["headers"] = {
    "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
}


# --- The tools that can be called by HTTP, and their URLs


def callable_by_http(
    definitions: Sequence[ToolDefinition],
) -> tuple[list[ToolDefinition], list[str]]:
    """Return the tools that can be called by HTTP, and a sentence about each skipped tool."""
    callable_tools = [tool for tool in definitions if tool.type is ToolType.OFFCHAIN]
    others = [tool for tool in definitions if tool.type is not ToolType.OFFCHAIN]
    return callable_tools, [f"{tool.fqn} is skipped: it is an on-chain tool" for tool in others]


def server_paths(
    definitions: Sequence[ToolDefinition],
) -> tuple[dict[ToolFqn, tuple[str, str]], list[str]]:
    """Return the server and path of each tool's `/invoke`, and a sentence about each skipped tool.

    A document contains each path once, regardless of the server. Therefore, if two tools have the
    same path on different hosts, the first segments of one path become part of its server URL.
    """
    assigned: dict[ToolFqn, tuple[str, str]] = {}
    skipped = []
    for definition in definitions:
        used_paths = {path for _, path in assigned.values()}
        unused = [split for split in _splits(definition.url) if split[1] not in used_paths]
        if unused:
            assigned[definition.fqn] = unused[0]
        else:
            skipped.append(
                f"{definition.fqn} is skipped: another tool has the same path on another host."
                " Export it separately"
            )
    return assigned, skipped


def _splits(url: str) -> list[tuple[str, str]]:
    """Return every split of the URL of `/invoke` into server and path, the longest path first."""
    parts = urlsplit(protocol.endpoint(url, protocol.INVOKE))
    origin = f"{parts.scheme}://{parts.netloc}"
    segments = parts.path.split("/")
    return [
        (origin + "/".join(segments[:count]), "/" + "/".join(segments[count:]))
        for count in range(1, len(segments))
    ]
