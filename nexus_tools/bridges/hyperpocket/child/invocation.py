"""The description and the call of a module's tools: arguments are bound, results become JSON."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python


def call(tool: Any, request: dict[str, Any]) -> Any:
    """Call a tool with `body`, `envs`, `thread_id`, and `profile` of the request.

    The tool's own variables are added to `envs`. Variables of the request take precedence.
    """
    tool.override_tool_variables(request["variables"])
    keywords = {key: request[key] for key in ("body", "envs", "thread_id", "profile")}
    keywords["envs"] = {**tool.tool_vars, **keywords["envs"]}
    function = function_of(tool)
    if function is not None:
        result = _awaited(function(**_bound(tool, function, keywords)))
    elif tool.__class__.ainvoke is not import_module("hyperpocket.tool").Tool.ainvoke:
        result = _awaited(tool.ainvoke(**_accepted(tool.ainvoke, keywords)))
    else:
        result = _awaited(tool.invoke(**_accepted(tool.invoke, keywords)))
    for postprocess in tool.postprocessings or ():
        result = postprocess(result)
    return to_jsonable_python(result, bytes_mode="base64", fallback=str)


def function_of(tool: Any) -> Callable[..., Any] | None:
    """Return the function of a `FunctionTool`, or None if the tool has its own `invoke`.

    The function is called directly, because `FunctionTool.invoke` converts values and exceptions to
    text.
    """
    function_tool = import_module("hyperpocket.tool.function").FunctionTool
    if not isinstance(tool, function_tool) or type(tool).invoke is not function_tool.invoke:
        return None
    return tool.afunc or tool.func  # type: ignore[no-any-return]


def _bound(tool: Any, function: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function. `**kwargs` receives all other declared arguments."""
    if tool.keep_structured_arguments:
        return keywords
    parameters = inspect.signature(function).parameters
    hints = _hints(function)
    declared = (tool.argument_json_schema or {}).get("properties", {})
    body = {name: value for name, value in keywords["body"].items() if name in declared}
    bound = {
        name: _converted(hints.get(name), body.pop(name)) for name in parameters if name in body
    }
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        others = {"thread_id": keywords["thread_id"], "profile": keywords["profile"]}
        return {**body, **others, **keywords["envs"], **bound}
    return bound


def _accepted(method: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the given arguments that a method accepts."""
    parameters = inspect.signature(method).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return keywords
    return {name: value for name, value in keywords.items() if name in parameters}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError:  # an annotation may use a name that only type checkers import
        return {}


def _converted(annotation: Any, value: Any) -> Any:
    return value if annotation is None else TypeAdapter(annotation).validate_python(value)


def _awaited(result: Any) -> Any:
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    return asyncio.run(wait())


def described(tool: Any) -> dict[str, Any]:
    """Return the declared fields of a tool, in the format of a packaged tool's file."""
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
    """Return the schema of the arguments, without the property of a `**kwargs` parameter."""
    schema = tool.argument_json_schema
    function = function_of(tool)
    if schema is None or function is None:
        return schema  # type: ignore[no-any-return]
    keyword_parameters = {
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.VAR_KEYWORD
    }
    declared = schema.get("properties", {})
    properties = {key: value for key, value in declared.items() if key not in keyword_parameters}
    required = [name for name in schema.get("required", []) if name not in keyword_parameters]
    return {**schema, "properties": properties, "required": required}
