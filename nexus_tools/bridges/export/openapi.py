"""One OpenAPI document for many tools: an operation for each, `POST <url>/invoke`.

Source: OpenAPI Specification 3.1.1; problem documents of RFC 9457, as tool servers answer them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nexus_tools.bridges.export.arguments import Arguments, moved
from nexus_tools.bridges.export.exported import Export, ExportedTool
from nexus_tools.bridges.export.http_urls import callable_by_http, server_paths
from nexus_tools.tool import ToolDefinition, ToolFqn
from nexus_tools.tool.schema_document import DIALECT

OPENAPI_VERSION = "3.1.1"

_SCHEMAS = "/components/schemas"
_ANSWERS = {
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
    answers = {
        code: {"$ref": f"#/components/responses/{key}"} for code, (key, _) in _ANSWERS.items()
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
            **answers,
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
    return {"application/json": {"schema": {"$ref": f"#{_SCHEMAS}/{key}"}}}


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A key by which a repeated call gets the answer of the first.",
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
        "content": {"application/problem+json": {"schema": {"$ref": f"#{_SCHEMAS}/Problem"}}},
    }
    for key, text in _ANSWERS.values()
}
_RESPONSES["Busy"]["headers"] = {
    "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
}
