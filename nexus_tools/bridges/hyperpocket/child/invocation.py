"""Tools of a module, described and called: arguments bound, results as JSON."""

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
    """Call a tool with `body`, `envs`, `thread_id` and `profile` of the request.

    The tool's own variables are in `envs` too, those of the request before them.
    """
    tool.override_tool_variables(request["variables"])
    given = {key: request[key] for key in ("body", "envs", "thread_id", "profile")}
    given["envs"] = {**tool.tool_vars, **given["envs"]}
    function = function_of(tool)
    if function is not None:
        result = _awaited(function(**_bound(tool, function, given)))
    elif tool.__class__.ainvoke is not import_module("hyperpocket.tool").Tool.ainvoke:
        result = _awaited(tool.ainvoke(**_accepted(tool.ainvoke, given)))
    else:
        result = _awaited(tool.invoke(**_accepted(tool.invoke, given)))
    for postprocess in tool.postprocessings or ():
        result = postprocess(result)
    return to_jsonable_python(result, bytes_mode="base64", fallback=str)


def function_of(tool: Any) -> Callable[..., Any] | None:
    """The function of a `FunctionTool`, None for other tools and where `invoke` is its own.

    Its own `invoke` would give text in place of values, and of exceptions too.
    """
    function_tool = import_module("hyperpocket.tool.function").FunctionTool
    if not isinstance(tool, function_tool) or type(tool).invoke is not function_tool.invoke:
        return None
    return tool.afunc or tool.func  # type: ignore[no-any-return]


def _bound(tool: Any, function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a function; `**kwargs` gets what is declared besides, and the rest given."""
    if tool.keep_structured_arguments:
        return given
    parameters = inspect.signature(function).parameters
    hints = _hints(function)
    declared = (tool.argument_json_schema or {}).get("properties", {})
    body = {name: value for name, value in given["body"].items() if name in declared}
    bound = {
        name: _converted(hints.get(name), body.pop(name)) for name in parameters if name in body
    }
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        others = {"thread_id": given["thread_id"], "profile": given["profile"]}
        return {**body, **others, **given["envs"], **bound}
    return bound


def _accepted(method: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Of what is given, the arguments that a method takes."""
    parameters = inspect.signature(method).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return given
    return {name: value for name, value in given.items() if name in parameters}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError:  # a name that is imported for type checkers only
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
