"""A replacement of the `hyperpocket` package for interpreters that do not have it.

`install` registers its modules. `tool.py` contains the base classes for authors.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from nexus_tools.bridges.hyperpocket.child.pocket import Pocket
from nexus_tools.bridges.hyperpocket.child.shim import function, provider, tool

_TOOL = {
    "Tool": tool.Tool,
    "ToolAuth": tool.ToolAuth,
    "ToolRequest": tool.ToolRequest,
    "from_git": tool.from_git,
    "from_local": tool.from_local,
}
_FUNCTION = {
    "FunctionTool": function.FunctionTool,
    "function_tool": function.function_tool,
    "from_func": function.FunctionTool.from_func,
    "from_dock": function.FunctionTool.from_dock,
}
_AUTH = {"AuthProvider": provider.AuthProvider}

# The modules by the paths that authors import, including paths of earlier versions.
_MODULES: dict[str, dict[str, Any]] = {
    "hyperpocket": {"Pocket": Pocket},
    "hyperpocket.auth": _AUTH,
    "hyperpocket.auth.provider": _AUTH,
    "hyperpocket.tool": {**_TOOL, **_FUNCTION},
    "hyperpocket.tool.tool": _TOOL,
    "hyperpocket.tool.function": _FUNCTION,
    "hyperpocket.tool.function.annotation": _FUNCTION,
    "hyperpocket.tool.function.tool": _FUNCTION,
    "hyperpocket.tool.wasm": {"from_git": tool.from_git, "from_local": tool.from_local},
    "hyperpocket.tool.wasm.tool": {"from_git": tool.from_git, "from_local": tool.from_local},
}


def install() -> None:
    """Register these modules, so that `import hyperpocket` finds them."""
    for path, names in _MODULES.items():
        module = ModuleType(path)
        module.__path__ = []
        vars(module).update(names)
        sys.modules[path] = module
        parent, _, name = path.rpartition(".")
        if parent:
            setattr(sys.modules[parent], name, module)
