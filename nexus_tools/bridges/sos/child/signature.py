"""What the document demands of a tool function, and its parameters as JSON Schema."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

CONTEXT = "__CTX__"
RESULT = "__RESULT__"


class RegistrationError(Exception):
    """Why a function is no tool."""


class Parameter:
    """One parameter: its annotation with everything in it, and whether a call must give it."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name = name
        self.annotation = annotation
        self.default = default
        self.is_required = default is inspect.Parameter.empty

    @property
    def takes_context(self) -> bool:
        """Whether it is a context by its type: such a thing cannot be given as JSON."""
        return _mentions(self.annotation, "SOSContext")


class ToolSignature:
    """The docstring and the parameters of a tool function."""

    def __init__(self, description: str, parameters: list[Parameter]) -> None:
        self.description = description
        self.parameters = parameters
        names = {parameter.name for parameter in parameters}
        self.takes_context = CONTEXT in names
        self.takes_result = RESULT in names

    @classmethod
    def of(cls, function: Callable[..., Any]) -> ToolSignature:
        """Read a function; raises `RegistrationError` with what the document misses in it."""
        description = inspect.getdoc(function) or ""
        if not description.strip():
            raise RegistrationError("it has no docstring")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise RegistrationError("it is async, and tools are called without await")
        annotations = _annotations(function)
        found = [
            _parameter(parameter, annotations.get(parameter.name))
            for parameter in inspect.signature(function).parameters.values()
        ]
        _check_places([parameter.name for parameter in found])
        return cls(description, found)

    def schema(self) -> dict[str, Any]:
        """The schema of the arguments that a caller gives: an object, its definitions in `$defs`.

        Raises `RegistrationError` where a type cannot be given as JSON.
        """
        given = [p for p in self.parameters if p.name not in (CONTEXT, RESULT)]
        unable = [p.name for p in given if p.takes_context and p.is_required]
        if unable:
            raise RegistrationError(f"a caller cannot give the SOSContext that {unable[0]!r} needs")
        given = [parameter for parameter in given if not parameter.takes_context]
        properties, definitions = _properties(given)
        schema: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "required": [parameter.name for parameter in given if parameter.is_required],
            "additionalProperties": False,
        }
        return {**schema, "$defs": definitions} if definitions else schema


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    written = dict(inspect.unwrap(function).__annotations__)
    if not any(isinstance(annotation, str) for annotation in written.values()):
        return written
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        message = f"its annotations cannot be read: {type(error).__name__}: {error}"
        raise RegistrationError(message) from error


def _parameter(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise RegistrationError(f"the parameter {name!r} cannot be given by keyword")
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is None:
        raise RegistrationError(f"the parameter {name!r} is not annotated with Annotated and Field")
    if not any(isinstance(getattr(member, "description", None), str) for member in metadata):
        raise RegistrationError(f"the Field of the parameter {name!r} has no description")
    return Parameter(name, annotation, parameter.default)


def _check_places(names: list[str]) -> None:
    if CONTEXT in names and names[0] != CONTEXT:
        raise RegistrationError(f"{CONTEXT} is not its first parameter")
    place = 1 if CONTEXT in names else 0
    if RESULT in names and names[place] != RESULT:
        where = f"not right after {CONTEXT}" if place else "not its first parameter"
        raise RegistrationError(f"{RESULT} is {where}")


def _properties(parameters: list[Parameter]) -> tuple[dict[str, Any], dict[str, Any]]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - half a call's time, and calls need no schema

    adapters = {}
    for parameter in parameters:
        try:
            adapters[parameter.name] = TypeAdapter(parameter.annotation)
            adapters[parameter.name].json_schema()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            message = f"the parameter {parameter.name!r} cannot be given as JSON: {reason}"
            raise RegistrationError(message) from error
    inputs: Any = [(name, "validation", adapter) for name, adapter in adapters.items()]
    schemas, shared = TypeAdapter.json_schemas(inputs)
    properties = {name: dict(schemas[name, "validation"]) for name in adapters}
    for parameter in parameters:
        if not parameter.is_required:
            _add_default(properties[parameter.name], adapters[parameter.name], parameter.default)
    return properties, dict(shared.get("$defs", {}))


def _add_default(schema: dict[str, Any], adapter: Any, default: Any) -> None:
    """Say the default where it is JSON and of the parameter's own type."""
    try:
        schema["default"] = adapter.dump_python(adapter.validate_python(default), mode="json")
    except Exception:  # noqa: BLE001 - a default is any object; a schema does without it
        schema.pop("default", None)


def _mentions(annotation: Any, wanted: str) -> bool:
    """Whether a class of that name stands anywhere in an annotation."""
    if isinstance(annotation, type) and any(base.__name__ == wanted for base in annotation.__mro__):
        return True
    return any(_mentions(member, wanted) for member in typing.get_args(annotation))
