"""The loader of tools by name: `package.module:attribute` or `path/file.py:attribute`."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from nexus_tools.errors import NexusError, UsageError
from nexus_tools.tool_server.base import Tool
from nexus_tools.tool_server.server import ToolServer
from nexus_tools.tool_server.user_traceback import location_of, message_of

_HINT = (
    "Write module:attribute or path/to/file.py. Without an attribute, all tools of the module are"
    " served."
)


def _hint(target: str) -> str:
    """Return how to write a target. For a folder, the hint names its file of tools."""
    file = Path(target.partition(":")[0]) / "tools.py"
    return f"Did you mean {file}?" if file.is_file() else _HINT


def load(target: str, *, public_url: str | None = None) -> ToolServer:
    """Import `target` and return its server.

    The attribute is a `ToolServer`, a `Tool` or an iterable of tools. Without an attribute, the
    server has all tools of the module, in the order of their definition. `public_url` is ignored if
    the attribute is already a `ToolServer`.

    Raises:
        UsageError: The target does not exist (`target_unknown`), or importing the author's module
            fails (`target_import_failed`).
    """
    module_name, colon, attribute = target.partition(":")
    module = load_module(module_name)
    if not colon:
        return _server(_tools_of(module), target, public_url)
    value: Any = module
    for name in attribute.split("."):
        value = getattr(value, name, None)
    if value is None:
        message = f"{module_name} has no attribute {attribute!r}"
        raise UsageError("target_unknown", message, hint=_HINT)
    return _server(value, target, public_url)


def load_module(place: str) -> ModuleType:
    """Import a module by its name or `.py` file. Raises the errors of `load`."""
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    except NexusError as error:
        # For an invalid tool, for example, the hint names its location in the author's file.
        location = location_of(error)
        error.hint = error.hint or (_see(location) if location else "")
        raise
    except (Exception, SystemExit) as error:  # the author's module may raise anything
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, place):
            message = f"cannot import {place!r}: {error}"
            raise UsageError("target_unknown", message, hint=_hint(place)) from error
        raise UsageError(
            "target_import_failed",
            f"{place} cannot be imported: {type(error).__name__}: {message_of(error)}",
            hint=_see(location_of(error) or place),
        ) from error


def _see(location: str) -> str:
    """Return a hint that names a location. The hint ends with source code, so it has no period."""
    return f"See {location}"


def _is_part(name: str | None, place: str) -> bool:
    """Return whether a missing module is the requested one or one of its parent packages."""
    return name is not None and f"{place}.".startswith(f"{name}.")


def _from_name(name: str) -> ModuleType:
    """Import a module of the environment or of the working directory."""
    if Path(name).is_file():
        raise UsageError("target_unknown", f"{name} is not a Python file", hint=_HINT)
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError("target_unknown", f"{name!r} is not a valid module name", hint=_hint(name))
    working_directory = str(Path.cwd())
    if working_directory not in sys.path:
        sys.path.insert(0, working_directory)
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    """Import a file, which can itself import the modules in its folder."""
    path = path.resolve()
    if not path.is_file():
        raise UsageError("target_unknown", f"the file {path} does not exist", hint=_HINT)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    # `get_type_hints` looks up modules in `sys.modules` to resolve annotations.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _tools_of(module: ModuleType) -> list[Tool]:
    tools = (value for value in vars(module).values() if isinstance(value, Tool))
    return list(dict.fromkeys(tools))


def _server(value: object, target: str, public_url: str | None) -> ToolServer:
    if isinstance(value, ToolServer):
        return value
    candidates = list(value) if isinstance(value, Iterable) else [value]
    tools = [tool for tool in candidates if isinstance(tool, Tool)]
    if not tools or len(tools) != len(candidates):
        message = f"{target} is not a tool, a list of tools or a ToolServer"
        raise UsageError("target_unknown", message, hint=_hint(target))
    return ToolServer(tools, public_url=public_url)
