"""Tools that are loaded while a system runs: its plugins, and the folders of the bridge."""

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
    """Return the files of a namespace: Python files whose names do not start with `_`."""
    return sorted(file for file in folder.glob("*.py") if not file.name.startswith("_"))


def load(file: Path) -> None:
    """Import a file unless it is already imported. Exceptions of the file are passed on."""
    file = file.resolve()
    name = f"{_package(file.parent)}.{_identifier(file.stem)}"
    if name not in sys.modules:
        _execute(name, file)


def _package(folder: Path) -> str:
    """Return the package name for a folder, which a tool cannot import by accident."""
    if folder not in _packages:
        sys.modules.setdefault(_ROOT, ModuleType(_ROOT))
        used_names = set(_packages.values())
        plain_name = f"{_ROOT}.{_identifier(folder.name)}"
        name = plain_name if plain_name not in used_names else f"{plain_name}_{len(used_names)}"
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
        raise ImportError(f"{file} is not a Python file")
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
    """Search tools in folders of namespaces. `plugins` also registers `context.tool_module`."""

    def find_more(namespace: str) -> None:
        for folder in folders:
            for file in tool_files(folder / namespace):
                if "sos_tool" in file.read_text(encoding="utf-8", errors="replace"):
                    _load_or_print(file)

    SOS_TOOL.find_more = find_more
    if plugins:
        SOS_TOOL.register(tool_module, "context", "tool_module")


def tool_module(
    __CTX__: Annotated[SOSContext, Field(description="The context of the system")],  # noqa: N803
    target: Annotated[str, Field(description="The folder with the files of the tools")],
    overwrite: Annotated[
        bool, Field(description="Whether the tools may replace tools with the same names")
    ] = False,
) -> dict[str, Any]:
    """Load the tools of a folder. The name of the folder is their namespace.

    A relative path is relative to the system's own folder.
    """
    folder = Path(str(__CTX__.get("meta.system_path", "."))) / target
    files = tool_files(folder)
    if not files:
        raise FileNotFoundError(f"{folder} does not contain files with tools")
    known_count, refused_count = len(SOS_TOOL.tools()), len(SOS_TOOL.refused)
    SOS_TOOL.overwrite = bool(overwrite)
    try:
        for file in files:
            load(file)
    finally:
        SOS_TOOL.overwrite = False
    conflicts = [entry for entry in SOS_TOOL.refused[refused_count:] if entry.is_taken]
    if conflicts:
        raise RegistrationError("; ".join(entry.reason for entry in conflicts))
    names = [f"{tool.namespace}.{tool.key}" for tool in SOS_TOOL.tools()[known_count:]]
    return {"namespace": folder.resolve().name, "tools": names}


def _load_or_print(file: Path) -> None:
    """Load a file that may contain a tool. Print an error instead of raising it."""
    try:
        load(file)
    except Exception as error:  # noqa: BLE001 - untrusted code may raise anything
        print(f"cannot load {file}: {type(error).__name__}: {error}")  # noqa: T201 - the log
