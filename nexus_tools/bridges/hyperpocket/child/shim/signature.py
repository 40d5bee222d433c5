"""The conversion of a function's parameters to a pydantic model, described by its docstring."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field, create_model

# Supported formats: `:param name: text`, `@param name: text`, and `name (type): text` under
# `Args:`.
_TAGGED = re.compile(r"^[:@](?:param|arg)\s+(?:\S+\s+)?(\w+)\s*:\s*(.+)$")
_LISTED = re.compile(r"^(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def parameter_model(function: Callable[..., Any]) -> type[BaseModel]:
    """Return the model of a function's named parameters.

    Raises:
        TypeError: if a parameter has no annotation.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    descriptions = _descriptions(function)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _NAMED or name in ("self", "cls"):
            continue
        if name not in hints:
            message = f"the parameter {name} of {function.__name__} has no annotation"
            raise TypeError(message)
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default, description=descriptions.get(name)))
    return create_model(function.__name__, **fields)


def _descriptions(function: Callable[..., Any]) -> dict[str, str]:
    lines = [line.strip() for line in (inspect.getdoc(function) or "").splitlines()]
    matches = [match for line in lines if (match := _TAGGED.match(line))]
    for heading in ("Args:", "Arguments:", "Parameters:"):
        if heading in lines:
            after = lines[lines.index(heading) + 1 :]
            matches += [match for line in after if (match := _LISTED.match(line))]
    return {match[1]: match[2].strip() for match in matches}
