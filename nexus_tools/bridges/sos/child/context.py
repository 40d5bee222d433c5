"""`SOSContext`: the values that the tools of one run share."""

from __future__ import annotations

from pprint import pprint
from typing import Any

from nexus_tools.bridges.sos.child import paths
from nexus_tools.bridges.sos.child.interpolation import Interpolation, resolved
from nexus_tools.bridges.sos.child.meta_object import MetaObject, as_objects
from nexus_tools.bridges.sos.child.paths import MISSING
from nexus_tools.bridges.sos.child.result import ResultObject

SECTIONS = ("meta", "namespace", "service", "action", "hook")
RESULT_SLOT = "__RESULT__"

Leaves = dict[str, Any]
"""Values by names that stand for their paths."""


class SOSContext:
    """A tree of sections: `namespace`, where tools keep their values, `meta`, `action` and others.

    A path begins in a section. Under `__RESULT__` stands the result of the action before;
    `keep_result` says whether it stays until the end of its list of actions. Actions that name a
    tool in `denied` fail.
    """

    def __init__(self, **sections: Any) -> None:
        self._sections: MetaObject = as_objects({**{name: {} for name in SECTIONS}, **sections})
        self.result: ResultObject | None = None
        self.keep_result = True
        self.denied: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._sections:
            raise AttributeError(name)
        return self._sections[name]

    def get(self, name: Any, default: Any = MISSING) -> Any:
        """The value at a path, or of a resolvable; raises `KeyError` if there is none."""
        if not isinstance(name, str):
            return resolved(name, self.get)
        return paths.find(self._tree(name), name, default)

    def set(self, name: str, value: Any, overwrite: bool = False) -> None:
        """Write a value; raises `KeyError` where one stands and must not be overwritten."""
        section = paths.steps(name)[0]
        if section not in self._sections:
            raise paths.PathError(f"{name!r} begins in no section, such as namespace")
        paths.put(self._sections, name, as_objects(value), overwrite=overwrite)

    def remove(self, name: str) -> None:
        """Take a value away; raises `KeyError` if there is none."""
        paths.remove(self._tree(name), name)

    def has(self, name: str) -> bool:
        """Whether something stands at a path."""
        nothing = object()
        return self.get(name, nothing) is not nothing

    def flatten(self) -> Leaves:
        """All texts, as variables of an environment are named."""
        return paths.flatten(self._sections)

    def dict(self) -> MetaObject:
        """The sections themselves."""
        return self._sections

    def print(self) -> None:
        """Show all sections."""
        pprint(self._sections)  # noqa: T203 - that is what a tool asks for

    def run(self, target: Any) -> Any:
        """Run the action, or the list of actions, at a path, and give its result or results.

        Raises `KeyError` if nothing stands there, `InterpolationError` for a `${…}` in it that
        leads nowhere, and whatever the tools raise.
        """
        from nexus_tools.bridges.sos.child.action import run  # noqa: PLC0415 - actions take contexts

        node = self.get(target) if isinstance(target, str) else target
        if isinstance(node, dict):
            node = Interpolation(self._sections, is_settled=True).filled(node)
        return run(node, self)

    def _tree(self, name: str) -> Any:
        """What paths begin in: the sections, and the result if there is one."""
        if paths.steps(name)[0] == RESULT_SLOT:
            return {} if self.result is None else {RESULT_SLOT: self.result}
        return self._sections
