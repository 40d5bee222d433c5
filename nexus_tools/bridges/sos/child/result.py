"""Results of tools and action lists: `ResultObject`, `ResultRepo`, and the break out of a list."""

from __future__ import annotations

import json
from pprint import pprint
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from nexus_tools.bridges.sos.child.meta_object import MetaObject
from nexus_tools.bridges.sos.child.paths import MISSING, find


class ResultObject:
    """The result of one tool: the dictionary `data`, and the runnables to call back.

    A tool may create and return a `ResultObject`. The data may contain objects of any type.
    """

    def __init__(
        self,
        data: dict[str, Any] | None = None,
        callbacks: list[Any] | None = None,
        called_tool: str | None = None,
        called_params: dict[str, Any] | None = None,
    ) -> None:
        self.data = MetaObject(data or {})
        self.callbacks = list(callbacks or [])
        self.called_tool = called_tool
        self.called_params = called_params

    @classmethod
    def of(cls, returned: Any) -> ResultObject:
        """Return the result for a tool's return value.

        Other values than dictionaries become `{"result": …}`.

        The member `callbacks` of a dictionary becomes the callbacks of the result.
        """
        if isinstance(returned, ResultObject):
            return returned
        if type(returned).__name__ == "ResultObject":  # SOS-Toolkit's own class, if it is installed
            return cls(dict(returned.data or {}), returned.callbacks)
        if not isinstance(returned, dict):
            return cls({"result": returned})
        callbacks = returned.get("callbacks")
        if not _are_callbacks(callbacks):
            return cls(dict(returned))
        return cls({key: returned[key] for key in returned if key != "callbacks"}, callbacks)

    def get(self, path: str, default: Any = MISSING) -> Any:
        """Return the value at a path such as `data.a`, or the default.

        Raises:
            KeyError: if there is no value and no default.
        """
        return find(vars(self), path, default)

    def step(self, name: str | int) -> Any:
        """Return the next value on a path: `data` or another attribute."""
        return vars(self).get(str(name), MISSING)

    def print(self) -> None:
        """Print the data."""
        pprint(self.data)  # noqa: T203 - tools print on purpose


class ResultRepo(dict[str, Any]):
    """The results of an action list by the names of its actions."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def step(self, name: str | int) -> Any:
        """Return the next value on a path: the result of an action."""
        return self.get(str(name), MISSING)


class RuntimeBreak(Exception):  # noqa: N818 - tools import this name
    """A break out of the current action list, which is not a failure."""

    def __init__(self, info: Any = None, data: Any = None) -> None:
        super().__init__("" if info is None else str(info))
        self.info = info
        self.data = data


def _are_callbacks(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(member, dict) and "tool" in member for member in value
    )


class NotJsonError(Exception):
    """The error of a tool's result that cannot be represented in JSON."""


def json_value(value: Any, what: str) -> Any:
    """Return the value as JSON.

    Raises:
        NotJsonError: if an object in the value cannot be represented.
    """
    try:
        converted = to_jsonable_python(value, fallback=_convert_result_object)
        json.dumps(converted, allow_nan=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise NotJsonError(f"{what} cannot be converted to JSON: {error}") from error
    return converted


def json_subset(tree: dict[str, Any], place: str, left_out: list[str]) -> dict[str, Any]:
    """Return the parts of a tree that JSON can represent.

    Add the paths of other parts to `left_out`.
    """
    parts: dict[str, Any] = {}
    for name, member in tree.items():
        path = f"{place}.{name}"
        try:
            parts[str(name)] = json_value(member, path)
        except NotJsonError:
            if isinstance(member, dict):
                parts[str(name)] = json_subset(member, path, left_out)
            else:
                left_out.append(path)
    return parts


def _convert_result_object(value: Any) -> Any:
    if isinstance(value, ResultObject):
        return value.data
    raise TypeError(f"JSON cannot represent a {type(value).__name__}")
