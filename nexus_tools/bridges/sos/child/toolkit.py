"""What tools import as `sos_toolkit.meta`: the installed package, or else our own in its place."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from nexus_tools.bridges.sos.child import action, context, meta_object, registry, result

GLOBAL = SimpleNamespace(
    ALLOW_DELETE=True, LOCAL_FILE="sos-local.yaml", ENV_LOCAL_FILE="SOS_LOCAL_FILE"
)
"""The settings that tools read. Those that delete are denied by name, or else allowed to."""

_NAMES: dict[str, Any] = {
    "SOSContext": context.SOSContext,
    "SOS_TOOL": registry.SOS_TOOL,
    "sos_tool": registry.sos_tool,
    "ToolRepo": registry.ToolRepo,
    "ToolObject": registry.ToolObject,
    "ResultObject": result.ResultObject,
    "ResultRepo": result.ResultRepo,
    "RuntimeBreak": result.RuntimeBreak,
    "MetaCondition": action.MetaCondition,
    "MetaRunnable": action.MetaRunnable,
    "MetaObject": meta_object.MetaObject,
    "MetaConfig": meta_object.MetaConfig,
    "_global": GLOBAL,
}


class Toolkit:
    """The module that tools import: SOS-Toolkit's if the interpreter has it (`is_installed`).

    Tools that are `denied`, by `namespace.name`, do not run as actions in either.
    """

    def __init__(self, denied: frozenset[str]) -> None:
        self.denied = denied
        self.is_installed = importlib.util.find_spec("sos_toolkit") is not None
        if self.is_installed:
            self._meta = importlib.import_module("sos_toolkit.meta")
            self._watch_registration()
            self._forget_denied()
        else:
            self._meta = _own_module()

    @property
    def runtime(self) -> str:
        """Which one it is, for people."""
        return "SOS-Toolkit of the interpreter" if self.is_installed else "own runtime"

    @property
    def folders(self) -> list[Path]:
        """Where SOS-Toolkit's own tools lie, if it is installed: one folder of namespaces."""
        file = getattr(self._meta, "__file__", None)
        return [Path(file).parent.parent / "tool"] if file else []

    def context(self, sections: dict[str, Any]) -> Any:
        """A context for one tool, with these sections."""
        made = self._meta.SOSContext(**{"meta": {}, **sections})
        if not self.is_installed:
            made.denied = self.denied
        return made

    def result(self, data: Any) -> Any:
        """A result as a tool takes it."""
        return self._meta.ResultObject(data=data)

    def _watch_registration(self) -> None:
        """Have the decorator register with us too: SOS-Toolkit does not say what it refuses."""
        decorate: Callable[[Any], Any] = self._meta.sos_tool

        @wraps(decorate)
        def registered(function: Any) -> Any:
            registry.sos_tool(function)
            name = f"{registry.namespace_of(function)}.{function.__name__}"
            return function if name in self.denied else decorate(function)

        self._meta.sos_tool = registered  # type: ignore[attr-defined]

    def _forget_denied(self) -> None:
        """Take denied tools out of the registry that the installed package's contexts look in."""
        for name in self.denied:
            namespace, _, key = name.partition(".")
            repo = self._meta.SOS_TOOL.get(namespace, None)
            if hasattr(repo, key):
                delattr(repo, key)


def _own_module() -> ModuleType:
    package, meta = ModuleType("sos_toolkit"), ModuleType("sos_toolkit.meta")
    package.__path__ = []
    for name, value in _NAMES.items():
        setattr(meta, name, value)
    package.meta = meta  # type: ignore[attr-defined]
    sys.modules["sos_toolkit"], sys.modules["sos_toolkit.meta"] = package, meta
    return meta
