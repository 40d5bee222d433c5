"""Messages about invalid parameters, which state the expected values without types of Python."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

_PATH = re.compile(r" - at `\$\.(\w+)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_MAX_SHOWN = 80


def describe_error(
    kind: type[msgspec.Struct], values: Mapping[str, Any], error: msgspec.ValidationError
) -> str:
    """Return a message about the parameter that `error` is about."""
    text = str(error)
    if unknown := _UNKNOWN.match(text):
        names = ", ".join(field.encode_name for field in _fields(kind)) or "no parameters"
        return f"the parameter {unknown[1][:_MAX_SHOWN]!r} does not exist: expected {names}"
    path = _PATH.search(text)
    fields = {field.encode_name: field.type for field in _fields(kind)}
    assert path is not None
    name = path[1]
    return f"{name}: expected {_expectation(fields[name])}, got {values[name][:_MAX_SHOWN]!r}"


def _fields(kind: type[msgspec.Struct]) -> Sequence[inspect.Field]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return described.fields


def _expectation(described: inspect.Type) -> str:
    """Return the description of the valid values of a type."""
    match _required(described):
        case inspect.IntType(ge=low, le=high):
            return f"an integer from {low} to {high}"
        case inspect.StrType(max_length=length):
            return _text_expectation(length)
        case inspect.EnumType(cls=members):
            return "one of " + ", ".join(str(member.value) for member in members)
        case _:
            return "0x and 64 hexadecimal digits"


def _required(described: inspect.Type) -> inspect.Type:
    """Return the type of the values of a parameter that may be optional."""
    while isinstance(described, inspect.Metadata):
        described = described.type
    if not isinstance(described, inspect.UnionType):
        return described
    [value] = [kind for kind in described.types if not isinstance(kind, inspect.NoneType)]
    return _required(value)


def _text_expectation(max_length: int | None) -> str:
    if max_length is None:
        return "a text"
    return f"at most {max_length} characters" if max_length else "no value"
