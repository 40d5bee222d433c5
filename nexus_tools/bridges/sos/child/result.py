"""What tools and action lists give: `ResultObject`, `ResultRepo`, and the break out of a list."""

from __future__ import annotations

import json
from pprint import pprint
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from nexus_tools.bridges.sos.child.meta_object import MetaObject
from nexus_tools.bridges.sos.child.paths import MISSING, find


class ResultObject:
    """The result of one tool: `data`, a dictionary, and the runnables that are to be called back.

    A tool may build one and return it. Its data may hold objects of any kind.
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
        """The result for what a tool returned: what is no dictionary is put in one, `result`.

        Callbacks that stand in a dictionary as `callbacks` are the result's own.
        """
        if isinstance(returned, ResultObject):
            return returned
        if type(returned).__name__ == "ResultObject":  # SOS-Toolkit's own, if it is installed
            return cls(dict(returned.data or {}), returned.callbacks)
        if not isinstance(returned, dict):
            return cls({"result": returned})
        callbacks = returned.get("callbacks")
        if not _are_callbacks(callbacks):
            return cls(dict(returned))
        return cls({key: returned[key] for key in returned if key != "callbacks"}, callbacks)

    def get(self, path: str, default: Any = MISSING) -> Any:
        """The value at a path such as `data.a`, or the default; raises `KeyError` without one."""
        return find(vars(self), path, default)

    def step(self, name: str | int) -> Any:
        """How paths go on through a result: `data` and what else it has."""
        return vars(self).get(str(name), MISSING)

    def print(self) -> None:
        """Show the data."""
        pprint(self.data)  # noqa: T203 - that is what a tool asks for


class ResultRepo(dict[str, Any]):
    """The results of an action list by the names of its actions."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def step(self, name: str | int) -> Any:
        """How paths go on through results."""
        return self.get(str(name), MISSING)


class RuntimeBreak(Exception):  # noqa: N818 - the name that tools import
    """Breaks out of the action list that runs, which is no failure."""

    def __init__(self, info: Any = None, data: Any = None) -> None:
        super().__init__("" if info is None else str(info))
        self.info = info
        self.data = data


def _are_callbacks(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(member, dict) and "tool" in member for member in value
    )


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
