"""The loader of an author's module, which can import `hyperpocket` or its replacement."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from nexus_tools.bridges.hyperpocket.child.pocket import Pocket
from nexus_tools.bridges.hyperpocket.child.shim import install

# Submodules without tools.
_SKIPPED_MODULES = ("test", "tests", "conftest", "setup")


def load(path: str) -> list[ModuleType]:
    """Return the module at `path`, or the package and its submodules if `path` is a folder.

    The module imports the real `hyperpocket` package if it is installed. `Pocket` is always
    replaced, because the real class starts two servers.
    """
    if importlib.util.find_spec("hyperpocket") is None:
        install()
    else:
        _without_servers()
    place = Path(path)
    # The module can import modules in its folder, but they do not shadow installed modules.
    sys.path.append(str(place.parent))
    module = _import(place.stem if place.is_file() else place.name, place)
    return [module, *_submodules(module)]


def _without_servers() -> None:
    package = importlib.import_module("hyperpocket")
    for name in ("hyperpocket.pocket_main", "hyperpocket.pocket_core"):
        if importlib.util.find_spec(name) is not None:
            setattr(importlib.import_module(name), "Pocket", Pocket)  # noqa: B010 - not in stubs
    package.Pocket = Pocket  # type: ignore[attr-defined]


def _import(name: str, place: Path) -> ModuleType:
    is_package = place.is_dir()
    file = place / "__init__.py" if is_package else place
    folders = [str(place)] if is_package else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        message = f"{file} is not a Python module"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _submodules(package: ModuleType) -> list[ModuleType]:
    return [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(getattr(package, "__path__", ()))
        if not module.ispkg
        and not module.name.startswith("_")
        and module.name not in _SKIPPED_MODULES
    ]
