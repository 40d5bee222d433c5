"""A tool in JSON: what the bridge makes a definition of."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any

from nexus_tools.bridges.hyperpocket.child.calling import function_of


def described(tool: Any) -> dict[str, Any]:
    """The declared fields of a tool, each in the form that its packaged kin has in a file."""
    return {
        "name": str(tool.name),
        "description": str(tool.description or ""),
        "schema": _schema(tool),
        "auth": None if tool.auth is None else _auth(tool.auth),
        "variables": {str(name): str(value) for name, value in tool.tool_vars.items()},
    }


def _auth(auth: Any) -> dict[str, Any]:
    provider = auth.auth_provider
    return {
        "auth_provider": provider.name.lower() if isinstance(provider, Enum) else provider,
        "auth_handler": auth.auth_handler,
        "scopes": list(auth.scopes or []),
    }


def _schema(tool: Any) -> dict[str, Any] | None:
    """The schema of the arguments, without the one that stands for all other names."""
    schema = tool.argument_json_schema
    function = function_of(tool)
    if schema is None or function is None:
        return schema  # type: ignore[no-any-return]
    rest = {
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.VAR_KEYWORD
    }
    declared = schema.get("properties", {})
    properties = {key: value for key, value in declared.items() if key not in rest}
    required = [name for name in schema.get("required", []) if name not in rest]
    return {**schema, "properties": properties, "required": required}
