"""What a tool gives, as JSON: models, paths, dates, sets and tuples are turned into it."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from nexus_tools.bridges.sos.child.result import ResultObject


class NotJsonError(Exception):
    """What a tool gave has no form in JSON."""


def json_value(value: Any, what: str) -> Any:
    """The value as JSON; raises `NotJsonError` for objects that have no form in it."""
    try:
        made = to_jsonable_python(value, fallback=_own_kinds)
        json.dumps(made, allow_nan=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise NotJsonError(f"{what} cannot be given as JSON: {error}") from error
    return made


def json_parts(tree: dict[str, Any], place: str, left_out: list[str]) -> dict[str, Any]:
    """What of a tree has a form in JSON; the paths of the rest are added to `left_out`."""
    parts: dict[str, Any] = {}
    for name, member in tree.items():
        path = f"{place}.{name}"
        try:
            parts[str(name)] = json_value(member, path)
        except NotJsonError:
            if isinstance(member, dict):
                parts[str(name)] = json_parts(member, path, left_out)
            else:
                left_out.append(path)
    return parts


def _own_kinds(value: Any) -> Any:
    if isinstance(value, ResultObject):
        return value.data
    raise TypeError(f"a {type(value).__name__} has no form in JSON")
