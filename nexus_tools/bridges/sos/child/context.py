"""`SOSContext`: the values that the tools of one run share."""

from __future__ import annotations

from pprint import pprint
from typing import Any

from nexus_tools.bridges.sos.child import paths
from nexus_tools.bridges.sos.child.interpolation import Interpolation, resolved
from nexus_tools.bridges.sos.child.meta_object import MetaObject, to_meta_objects
from nexus_tools.bridges.sos.child.paths import MISSING
from nexus_tools.bridges.sos.child.result import ResultObject

SECTIONS = ("meta", "namespace", "service", "action", "hook")
RESULT_SLOT = "__RESULT__"

Leaves = dict[str, Any]
"""A mapping from names that are derived from paths to values."""


class SOSContext:
    """A tree of sections: `namespace`, where tools store values, `meta`, `action`, and others.

    A path starts with a section. `__RESULT__` holds the result of the previous action. With
    `keep_result`, `__RESULT__` is available until the end of the action list. Actions that name a
    tool in `denied` fail.
    """

    def __init__(self, **sections: Any) -> None:
        self._sections: MetaObject = to_meta_objects(
            {**{name: {} for name in SECTIONS}, **sections}
        )
        self.result: ResultObject | None = None
        self.keep_result = True
        self.denied: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._sections:
            raise AttributeError(name)
        return self._sections[name]

    def get(self, name: Any, default: Any = MISSING) -> Any:
        """Return the value at a path, or the value that a resolvable refers to.

        Raises:
            KeyError: if there is no value and no default.
        """
        if not isinstance(name, str):
            return resolved(name, self.get)
        return paths.find(self._tree(name), name, default)

    def set(self, name: str, value: Any, overwrite: bool = False) -> None:
        """Write a value at a path.

        Raises:
            KeyError: if the path has a value and `overwrite` is false.
        """
        section = paths.steps(name)[0]
        if section not in self._sections:
            raise paths.PathError(f"{name!r} does not start with a section such as namespace")
        paths.put(self._sections, name, to_meta_objects(value), overwrite=overwrite)

    def remove(self, name: str) -> None:
        """Remove the value at a path.

        Raises:
            KeyError: if the path has no value.
        """
        paths.remove(self._tree(name), name)

    def has(self, name: str) -> bool:
        """Return whether a path has a value."""
        missing = object()
        return self.get(name, missing) is not missing

    def flatten(self) -> Leaves:
        """Return all strings in the context, keyed by names like those of environment variables."""
        return paths.flatten(self._sections)

    def dict(self) -> MetaObject:
        """Return the sections of the context."""
        return self._sections

    def print(self) -> None:
        """Print all sections."""
        pprint(self._sections)  # noqa: T203 - tools print on purpose

    def run(self, target: Any) -> Any:
        """Run the action or list of actions at a path, and return its result or results.

        Exceptions of the tools are passed on.

        Raises:
            KeyError: if the path has no value.
            InterpolationError: if the path of a `${…}` has no value.
        """
        from nexus_tools.bridges.sos.child.action import run  # noqa: PLC0415 - actions import contexts

        node = self.get(target) if isinstance(target, str) else target
        if isinstance(node, dict):
            node = Interpolation(self._sections, is_settled=True).filled(node)
        return run(node, self)

    def _tree(self, name: str) -> Any:
        """Return the root of a path: the sections, or the result for `__RESULT__`."""
        if paths.steps(name)[0] == RESULT_SLOT:
            return {} if self.result is None else {RESULT_SLOT: self.result}
        return self._sections
