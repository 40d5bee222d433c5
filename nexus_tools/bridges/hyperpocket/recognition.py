"""Which files and folders hold tools of Hyperpocket; nothing of them is run to know."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nexus_tools.bridges.hyperpocket.manifest import is_packaged

# How much of a folder is looked at.
_MAX_MODULES = 200
_MAX_BYTES = 2**20

_MARKS = re.compile(
    rb"^\s*(?:from|import)\s+hyperpocket\b|^(?:async\s+)?def\s+initialize_dock\s*\("
    rb"|\.__(?:model|auth|vars)__\s*=",
    re.MULTILINE,
)


def modules(place: Path) -> list[Path]:
    """What is loaded for a place: the file, the package, or the folder's files one by one."""
    if place.is_file():
        return [place] if _is_module(place) else []
    if (place / "__init__.py").is_file():
        return [place] if any(map(_is_module, _python_files(place))) else []
    return [file for file in _python_files(place) if _is_module(file)]


def is_recognised(place: Path) -> bool:
    """Whether a place is a packaged tool, or has modules of tools."""
    return is_packaged(place) or bool(modules(place))


def _python_files(folder: Path) -> Iterator[Path]:
    return islice(sorted(folder.glob("*.py")), _MAX_MODULES)


def _is_module(file: Path) -> bool:
    if file.suffix != ".py" or not file.is_file():
        return False
    try:
        with file.open("rb") as opened:
            return bool(_MARKS.search(opened.read(_MAX_BYTES)))
    except OSError:
        return False
