"""Finds the tools that an author names: `package.module:attribute` or `path/file.py:attribute`."""

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
from nexus_tools.tool_server.user_traceback import message_of, place_of

_HINT = "name it as module:attribute or path/to/file.py; without attribute all its tools are served"


def load(target: str, *, public_url: str | None = None) -> ToolServer:
    """Import `target` and give its server.

    The attribute is a `ToolServer`, a `Tool` or an iterable of tools; without one, all tools of
    the module are taken in the order of their definition. `public_url` is for servers that are
    made here. Raises `UsageError` with code `target_unknown`, and `target_broken` where the
    author's module does not get through its import.
    """
    place, colon, attribute = target.partition(":")
    module = load_module(place)
    if not colon:
        return _server(_tools_of(module), target, public_url)
    found: Any = module
    for name in attribute.split("."):
        found = getattr(found, name, None)
    if found is None:
        raise UsageError("target_unknown", f"{place} has no attribute {attribute!r}", hint=_HINT)
    return _server(found, target, public_url)


def load_module(place: str) -> ModuleType:
    """The module of that name, or the one in a file that ends with `.py`; raises as `load` does."""
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    except NexusError as error:
        # As for a tool that cannot be one; only the author's file tells where that stands.
        where = place_of(error)
        error.hint = error.hint or (f"see {where}" if where else "")
        raise
    except (Exception, SystemExit) as error:  # the module is the author's, and may raise anything
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, place):
            message = f"cannot import {place!r}: {error}"
            raise UsageError("target_unknown", message, hint=_HINT) from error
        raise UsageError(
            "target_broken",
            f"{place} cannot be imported: {type(error).__name__}: {message_of(error)}",
            hint=f"see {place_of(error) or place}",
        ) from error


def _is_part(name: str | None, place: str) -> bool:
    """Whether a module that was not found is the one that was asked for, or a package of it."""
    return name is not None and f"{place}.".startswith(f"{name}.")


def _from_name(name: str) -> ModuleType:
    """Import a module of the environment or of the working directory."""
    if Path(name).is_file():
        raise UsageError("target_unknown", f"{name} is no Python file", hint=_HINT)
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError("target_unknown", f"{name!r} is no name of a module", hint=_HINT)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    """Import a file; modules beside it can be imported by it."""
    path = path.resolve()
    if not path.is_file():
        raise UsageError("target_unknown", f"there is no file {path}", hint=_HINT)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    # Annotations are resolved through the module's entry here.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _tools_of(module: ModuleType) -> list[Tool]:
    found = (value for value in vars(module).values() if isinstance(value, Tool))
    return list(dict.fromkeys(found))


def _server(found: object, target: str, public_url: str | None) -> ToolServer:
    if isinstance(found, ToolServer):
        return found
    candidates = list(found) if isinstance(found, Iterable) else [found]
    tools = [tool for tool in candidates if isinstance(tool, Tool)]
    if not tools or len(tools) != len(candidates):
        message = f"{target} is no tool, no list of tools and no ToolServer"
        raise UsageError("target_unknown", message, hint=_HINT)
    return ToolServer(tools, public_url=public_url)
