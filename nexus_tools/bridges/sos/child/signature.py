"""The requirements of SOS-Toolkit's specification for a tool function, and its JSON Schema."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

CONTEXT = "__CTX__"
RESULT = "__RESULT__"


class RegistrationError(Exception):
    """The error of a function that cannot be a tool. The message says why."""


class Parameter:
    """A parameter: its annotation with all metadata, and whether a call must include it."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name = name
        self.annotation = annotation
        self.default = default
        self.is_required = default is inspect.Parameter.empty

    @property
    def takes_context(self) -> bool:
        """Whether its type is a context, which cannot be represented in JSON."""
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
        """Return the signature of a function.

        Raises:
            RegistrationError: if the function violates the specification.
        """
        description = inspect.getdoc(function) or ""
        if not description.strip():
            raise RegistrationError("the function has no docstring")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise RegistrationError(
                "the function is asynchronous, but tools are called without await"
            )
        annotations = _annotations(function)
        parameters = [
            _parameter(parameter, annotations.get(parameter.name))
            for parameter in inspect.signature(function).parameters.values()
        ]
        _check_places([parameter.name for parameter in parameters])
        return cls(description, parameters)

    def schema(self) -> dict[str, Any]:
        """Return the schema of the arguments from a caller: an object with definitions in `$defs`.

        Raises:
            RegistrationError: if JSON cannot represent a type.
        """
        arguments = [p for p in self.parameters if p.name not in (CONTEXT, RESULT)]
        unsupported = [p.name for p in arguments if p.takes_context and p.is_required]
        if unsupported:
            raise RegistrationError(
                f"JSON cannot represent the SOSContext that {unsupported[0]!r} requires"
            )
        arguments = [parameter for parameter in arguments if not parameter.takes_context]
        properties, definitions = _properties(arguments)
        schema: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "required": [parameter.name for parameter in arguments if parameter.is_required],
            "additionalProperties": False,
        }
        return {**schema, "$defs": definitions} if definitions else schema


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    annotations = dict(inspect.unwrap(function).__annotations__)
    if not any(isinstance(annotation, str) for annotation in annotations.values()):
        return annotations
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        message = f"cannot read the annotations: {type(error).__name__}: {error}"
        raise RegistrationError(message) from error


def _parameter(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise RegistrationError(f"the parameter {name!r} must accept a keyword argument")
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is None:
        raise RegistrationError(
            f"the parameter {name!r} must be annotated with Annotated and Field"
        )
    if not any(isinstance(getattr(member, "description", None), str) for member in metadata):
        raise RegistrationError(f"the Field of the parameter {name!r} has no description")
    return Parameter(name, annotation, parameter.default)


def _check_places(names: list[str]) -> None:
    if CONTEXT in names and names[0] != CONTEXT:
        raise RegistrationError(f"{CONTEXT} must be its first parameter")
    index = 1 if CONTEXT in names else 0
    if RESULT in names and names[index] != RESULT:
        location = f"directly after {CONTEXT}" if index else "its first parameter"
        raise RegistrationError(f"{RESULT} must be {location}")


def _properties(parameters: list[Parameter]) -> tuple[dict[str, Any], dict[str, Any]]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - takes half the time of a call, and calls need no schema

    adapters = {}
    for parameter in parameters:
        try:
            adapters[parameter.name] = TypeAdapter(parameter.annotation)
            adapters[parameter.name].json_schema()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            message = f"JSON cannot represent the parameter {parameter.name!r}: {reason}"
            raise RegistrationError(message) from error
    inputs: Any = [(name, "validation", adapter) for name, adapter in adapters.items()]
    schemas, shared = TypeAdapter.json_schemas(inputs)
    properties = {name: dict(schemas[name, "validation"]) for name in adapters}
    for parameter in parameters:
        if not parameter.is_required:
            _add_default(properties[parameter.name], adapters[parameter.name], parameter.default)
    return properties, dict(shared.get("$defs", {}))


def _add_default(schema: dict[str, Any], adapter: Any, default: Any) -> None:
    """Add the default if JSON can represent it and it has the parameter's own type."""
    try:
        schema["default"] = adapter.dump_python(adapter.validate_python(default), mode="json")
    except Exception:  # noqa: BLE001 - a default may be any object, and the schema does not require it
        schema.pop("default", None)


def _mentions(annotation: Any, class_name: str) -> bool:
    """Return whether an annotation contains a class with that name."""
    if isinstance(annotation, type) and any(
        base.__name__ == class_name for base in annotation.__mro__
    ):
        return True
    return any(_mentions(member, class_name) for member in typing.get_args(annotation))
