"""The OpenAPI 3.1 document of the API, generated from the operations and their structs."""

import inspect
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from nexus_tools import __version__
from nexus_tools.index.api.documents import FeedEvent, address_schema
from nexus_tools.index.api.mcp_registry import registry_operations
from nexus_tools.index.api.operations import OPERATIONS, Operation
from nexus_tools.index.api.parameters import EventsParameters, Parameters
from nexus_tools.index.api.problems import Problem
from nexus_tools.index.snapshots import MANIFEST_FILE, SnapshotManifest
from nexus_tools.tool import protocol

EVENTS_PATH = "/api/events"
_REFERENCE = "#/components/schemas/{name}"
_ABOUT = (
    "An index of tools, invocations and workflows on Sui. The index proposes, and the chain"
    " decides: read an object on chain before you rely on it. Names, descriptions and URLs are"
    " untrusted texts. Times are in ms since 1970. Amounts are in MIST and may exceed 2^53."
)
_EVENTS_ABOUT = (
    "A stream of new tools, new and closed invocations, and changes of leaders (Server-Sent"
    " Events). The data of each event is one of the schemas in FeedEvent."
)
_SNAPSHOT_ABOUT = (
    "The description of the snapshot that this server offers. Its file is beside this document,"
    " under the name in `file`. The status is 404 if the server offers no snapshot."
)
_TAGS = {
    "tools": "Tools and their records.",
    "invocations": "Invocations of tools.",
    "leaders": "Leaders and their records.",
    "workflows": "Published workflows.",
    "executions": "Executions of workflows.",
    "schedules": "Schedules of workflows.",
    "events": "The stream of events.",
    "servers": "The MCP server of the operator, in the format of the MCP registry.",
    "index": "The index itself: its state, its totals and its files.",
}
_PROBLEMS = {
    "400": "A parameter or a cursor is invalid.",
    "404": "The object is not in the index.",
    "429": "Too many requests or streams. Try again after Retry-After.",
    "503": "The index is not available.",
}


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document."""
    operations = (*OPERATIONS, *registry_operations(None))
    results = [operation.result for operation in operations]
    references, schemas = msgspec.json.schema_components(
        [Problem, FeedEvent, SnapshotManifest, *results],
        schema_hook=address_schema,
        ref_template=_REFERENCE,
    )
    _, events, manifest, *documents = references
    paths = {
        operation.path: {"get": _operation(operation, document)}
        for operation, document in zip(operations, documents, strict=True)
    }
    paths[EVENTS_PATH] = {"get": _events()}
    paths[f"/{MANIFEST_FILE}"] = {"get": _snapshot(manifest)}
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Nexus tools index",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {
                name: _cleaned(schema)
                for name, schema in (schemas | _components(operations)).items()
            }
            | {"FeedEvent": events},
            "responses": {
                status: {
                    "description": text,
                    "content": {protocol.PROBLEM_JSON: {"schema": _reference("Problem")}},
                }
                for status, text in _PROBLEMS.items()
            },
        },
    }


def _cleaned(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the indentation of the docstring in its description."""
    about = schema.get("description")
    return {**schema, **({"description": inspect.cleandoc(about)} if about else {})}


def _operation(operation: Operation, document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [_tag(operation.path)],
        "parameters": _parameters(operation.path, operation.parameters),
        "responses": {
            "200": {
                "description": "The document, with an ETag.",
                "content": {protocol.JSON: {"schema": document}},
            },
            "304": {"description": "The document has the ETag in If-None-Match."},
            **_problem_responses(),
        },
    }


def _tag(path: str) -> str:
    """Return the tag of an operation, which is the name of its collection."""
    return next((name for name in path.split("/") if name in _TAGS), "index")


def _snapshot(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "getSnapshot",
        "summary": "Get the description of the published snapshot",
        "description": _SNAPSHOT_ABOUT,
        "tags": ["index"],
        "parameters": [],
        "responses": {
            "200": {
                "description": "The description.",
                "content": {protocol.JSON: {"schema": manifest}},
            },
            **_problem_responses(),
        },
    }


def _events() -> dict[str, Any]:
    return {
        "operationId": "followEvents",
        "summary": "Follow events",
        "description": _EVENTS_ABOUT,
        "tags": [_tag(EVENTS_PATH)],
        "parameters": [
            *_parameters(EVENTS_PATH, EventsParameters),
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The ID of the last event that you received.",
                "schema": {"type": "string"},
            },
        ],
        "responses": {
            "200": {
                "description": "The stream, which does not end.",
                "content": {
                    "text/event-stream": {
                        "schema": {"type": "string", "contentSchema": _reference("FeedEvent")}
                    }
                },
            },
            **_problem_responses(),
        },
    }


def _parameters(path: str, kind: type[Parameters]) -> list[dict[str, Any]]:
    _, schemas = _schema(kind)
    schema = schemas[kind.__name__]
    in_path = re.findall(r"\{(\w+)\}", path)
    return [
        _parameter(name, value, is_in_path=name in in_path)
        for name, value in schema["properties"].items()
    ]


def _parameter(name: str, schema: Mapping[str, Any], *, is_in_path: bool) -> dict[str, Any]:
    """Return a parameter. An optional parameter is omitted, and never null."""
    default = schema.get("default")
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    [value] = options or [schema]
    value = {key: item for key, item in value.items() if key not in ("default", "description")}
    description = schema.get("description") or (options or [schema])[0].get("description", "")
    return {
        "name": name,
        "in": "path" if is_in_path else "query",
        "required": is_in_path,
        **({"description": description} if description else {}),
        "schema": value if default is None else value | {"default": default},
    }


def _components(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the schemas that parameters refer to, such as enumerations."""
    kinds: list[type[Parameters]] = [EventsParameters]
    kinds += [operation.parameters for operation in operations]
    names = {kind.__name__ for kind in kinds}
    _, schemas = _schema(*kinds)
    return {name: schema for name, schema in schemas.items() if name not in names}


def _schema(*kinds: type[Parameters]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    return msgspec.json.schema_components(
        kinds, schema_hook=address_schema, ref_template=_REFERENCE
    )


def _problem_responses() -> dict[str, Any]:
    responses = {status: {"$ref": f"#/components/responses/{status}"} for status in _PROBLEMS}
    return responses | {
        "default": {
            "description": HTTPStatus.INTERNAL_SERVER_ERROR.phrase,
            "content": {protocol.PROBLEM_JSON: {"schema": _reference("Problem")}},
        }
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=name)}
