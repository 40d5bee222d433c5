"""Tools that come while a system runs: its plugins, and the folders that the bridge names."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import Field

from nexus_tools.bridges.sos.child.context import SOSContext
from nexus_tools.bridges.sos.child.registry import SOS_TOOL
from nexus_tools.bridges.sos.child.signature import RegistrationError

_ROOT = "sos_tools"

_packages: dict[Path, str] = {}


def tool_files(folder: Path) -> list[Path]:
    """The files of a namespace: those of Python whose names do not begin with `_`."""
    return sorted(file for file in folder.glob("*.py") if not file.name.startswith("_"))


def load(file: Path) -> None:
    """Import a file, unless it is imported already; whatever it raises is raised."""
    file = file.resolve()
    name = f"{_package(file.parent)}.{_identifier(file.stem)}"
    if name not in sys.modules:
        _execute(name, file)


def _package(folder: Path) -> str:
    """The name of the package for a folder: never one that a tool may import by chance."""
    if folder not in _packages:
        sys.modules.setdefault(_ROOT, ModuleType(_ROOT))
        taken = set(_packages.values())
        plain = f"{_ROOT}.{_identifier(folder.name)}"
        name = plain if plain not in taken else f"{plain}_{len(taken)}"
        _packages[folder] = name
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        if (folder / "__init__.py").is_file():
            _execute(name, folder / "__init__.py", [str(folder)])
    return _packages[folder]


def _execute(name: str, file: Path, search: list[str] | None = None) -> None:
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _identifier(text: str) -> str:
    return re.sub(r"\W", "_", text)


def offer(folders: list[Path], *, plugins: bool) -> None:
    """Let tools be found in folders of namespaces, and with `plugins` by `context.tool_module`."""

    def find_more(namespace: str) -> None:
        for folder in folders:
            for file in tool_files(folder / namespace):
                if "sos_tool" in file.read_text(encoding="utf-8", errors="replace"):
                    _load_or_say(file)

    SOS_TOOL.find_more = find_more
    if plugins:
        SOS_TOOL.register(tool_module, "context", "tool_module")


def tool_module(
    __CTX__: Annotated[SOSContext, Field(description="The context of the system")],  # noqa: N803
    target: Annotated[str, Field(description="The folder whose files have tools")],
    overwrite: Annotated[
        bool, Field(description="Whether they may take the names of others")
    ] = False,
) -> dict[str, Any]:
    """Load the tools of a folder; its name is their namespace.

    A relative path is one from the system's own folder.
    """
    folder = Path(str(__CTX__.get("meta.system_path", "."))) / target
    files = tool_files(folder)
    if not files:
        raise FileNotFoundError(f"there are no files of tools in {folder}")
    known, refused = len(SOS_TOOL.tools()), len(SOS_TOOL.refused)
    SOS_TOOL.overwrite = bool(overwrite)
    try:
        for file in files:
            load(file)
    finally:
        SOS_TOOL.overwrite = False
    taken = [each for each in SOS_TOOL.refused[refused:] if each.is_taken]
    if taken:
        raise RegistrationError("; ".join(each.reason for each in taken))
    names = [f"{tool.namespace}.{tool.key}" for tool in SOS_TOOL.tools()[known:]]
    return {"namespace": folder.resolve().name, "tools": names}


def _load_or_say(file: Path) -> None:
    """Load a file that a tool may be in; one that is broken is no reason to give up."""
    try:
        load(file)
    except Exception as error:  # noqa: BLE001 - a stranger's module
        print(f"{file} cannot be loaded: {type(error).__name__}: {error}")  # noqa: T201 - the log
