"""Files of tools are imported: each folder is a package, so that they can import one another."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

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
