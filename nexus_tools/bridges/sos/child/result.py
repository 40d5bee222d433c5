"""What tools and action lists give: `ResultObject`, `ResultRepo`, and the break out of a list."""

from __future__ import annotations

from pprint import pprint
from typing import Any

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
