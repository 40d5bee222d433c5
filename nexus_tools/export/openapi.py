"""One OpenAPI document for many tools: an operation for each, `POST <url>/invoke`.

Source: OpenAPI Specification 3.1.1; problem documents of RFC 9457, as tool servers send them.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from nexus_tools.export.exported import Arguments, Export, ExportedTool, moved
from nexus_tools.tool import DIALECT, ToolDefinition, ToolFqn, ToolType, protocol

OPENAPI_VERSION = "3.1.1"

_SCHEMAS = "/components/schemas"
_PROBLEMS = {
    "422": ("InputInvalid", "The ports do not match the schema; `errors` says where."),
    "429": ("Busy", "The tool is busy: try again after `Retry-After`."),
    "4XX": ("Refused", "The call is refused."),
    "5XX": ("Broken", "The tool broke, is not ready, or ran out of its time (504)."),
}


def openapi(definitions: Sequence[ToolDefinition], names: Mapping[ToolFqn, str]) -> Export:
    """The document of all tools that HTTP can reach; their schemas are the components."""
    reachable, skipped = callable_by_http(definitions)
    places, without_place = server_paths(reachable)
    tools = [_tool(each, names[each.fqn]) for each in reachable if each.fqn in places]
    components: dict[str, Any] = {"Problem": _PROBLEM}
    paths = {}
    for tool in tools:
        server, path = places[tool.definition.fqn]
        paths[path] = {"servers": [{"url": server}], "post": tool.document}
        components |= _components(tool)
    document = {
        "openapi": OPENAPI_VERSION,
        "info": {"title": "Nexus tools", "version": "1", "summary": "Tools, each one operation."},
        "jsonSchemaDialect": DIALECT,
        "paths": paths,
        "components": {"schemas": components, "responses": _RESPONSES},
    }
    return Export(document, tuple(tools), (*skipped, *without_place))


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
    """Both schemas as they were registered, but that references say where things are here."""
    schemas = {
        f"{tool.name}_input": tool.definition.input_schema,
        f"{tool.name}_output": tool.definition.output_schema,
    }
    return {key: _component(key, schema) for key, schema in schemas.items()}


def _component(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return moved(schema, lambda pointer: f"{_SCHEMAS}/{key}{pointer}")


def _content(key: str) -> dict[str, Any]:
    return {protocol.JSON: {"schema": {"$ref": f"#{_SCHEMAS}/{key}"}}}


_IDEMPOTENCY_KEY = {
    "name": protocol.IDEMPOTENCY_KEY_HEADER,
    "in": "header",
    "description": "A key by which a repeated call gets the response of the first.",
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
        "code": {"type": "string", "description": "A stable word for programs."},
        "errors": {
            "type": "array",
            "description": "What is wrong with the input, and where.",
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


# --- Which tools can be called by HTTP, and where


def callable_by_http(
    definitions: Sequence[ToolDefinition],
) -> tuple[list[ToolDefinition], list[str]]:
    """Those that can be called by HTTP, and a sentence for each of the others."""
    found = [each for each in definitions if each.type is ToolType.OFFCHAIN]
    others = [each for each in definitions if each.type is not ToolType.OFFCHAIN]
    return found, [f"{each.fqn} is skipped: it is a function on chain, no URL" for each in others]


def server_paths(
    definitions: Sequence[ToolDefinition],
) -> tuple[dict[ToolFqn, tuple[str, str]], list[str]]:
    """Server and path of each tool's `/invoke`, and a sentence for each tool that has no place.

    In a document each path stands once, whatever its server. So where two tools have the same path
    on different hosts, the beginning of one's path goes to its server.
    """
    placed: dict[ToolFqn, tuple[str, str]] = {}
    skipped = []
    for definition in definitions:
        taken = {path for _, path in placed.values()}
        free = [split for split in _splits(definition.url) if split[1] not in taken]
        if free:
            placed[definition.fqn] = free[0]
        else:
            skipped.append(
                f"{definition.fqn} is skipped: another tool has the same path on another host;"
                " export it by itself"
            )
    return placed, skipped


def _splits(url: str) -> list[tuple[str, str]]:
    """Every way to say where `/invoke` is, the longest path first."""
    parts = urlsplit(protocol.endpoint(url, protocol.INVOKE))
    origin = f"{parts.scheme}://{parts.netloc}"
    segments = parts.path.split("/")
    return [
        (origin + "/".join(segments[:count]), "/" + "/".join(segments[count:]))
        for count in range(1, len(segments))
    ]
