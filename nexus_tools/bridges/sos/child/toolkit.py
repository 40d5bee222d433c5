"""The module that tools import as `sos_toolkit.meta`: the installed package or our replacement."""

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
"""The settings that tools read.

Deletion is allowed, because tools that delete are denied by name.
"""

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
    """The `sos_toolkit` module that tools import: the installed one if `is_installed`, else ours.

    Tools whose `namespace.name` is in `denied` never run as actions.
    """

    def __init__(self, denied: frozenset[str]) -> None:
        self.denied = denied
        self.is_installed = importlib.util.find_spec("sos_toolkit") is not None
        if self.is_installed:
            self._meta = importlib.import_module("sos_toolkit.meta")
            self._watch_registration()
            self._remove_denied_tools()
        else:
            self._meta = _own_module()

    @property
    def runtime(self) -> str:
        """The name of the runtime, for users."""
        return "SOS-Toolkit of the interpreter" if self.is_installed else "own runtime"

    @property
    def folders(self) -> list[Path]:
        """The folder of SOS-Toolkit's own namespaces, if it is installed."""
        file = getattr(self._meta, "__file__", None)
        return [Path(file).parent.parent / "tool"] if file else []

    def context(self, sections: dict[str, Any]) -> Any:
        """Return a context for one tool with these sections."""
        new_context = self._meta.SOSContext(**{"meta": {}, **sections})
        if not self.is_installed:
            new_context.denied = self.denied
        return new_context

    def result(self, data: Any) -> Any:
        """Return a result as the type that tools expect."""
        return self._meta.ResultObject(data=data)

    def _watch_registration(self) -> None:
        """Also register decorated functions in our registry, which reports refusals."""
        decorate: Callable[[Any], Any] = self._meta.sos_tool

        @wraps(decorate)
        def registered(function: Any) -> Any:
            registry.sos_tool(function)
            name = f"{registry.namespace_of(function)}.{function.__name__}"
            return function if name in self.denied else decorate(function)

        self._meta.sos_tool = registered  # type: ignore[attr-defined]

    def _remove_denied_tools(self) -> None:
        """Remove denied tools from the registry that the installed package's contexts use."""
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
