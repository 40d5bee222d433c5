"""Where tools and systems of SOS-Toolkit lie; files are read, and nothing of them is run."""

import re
from dataclasses import dataclass
from pathlib import Path

SYSTEM_FILE = "sos-system.yaml"

MAX_FILE_BYTES = 2**20
"""A larger file of Python is not looked into, and so has no tools."""

_DECORATOR = re.compile(rb"\bsos_tool\b")
_PACKAGE = re.compile(rb"\bsos_toolkit\b")


@dataclass(frozen=True, slots=True)
class Place:
    """What lies in a place: files of tools, those of one namespace together, and a system."""

    namespaces: tuple[tuple[Path, ...], ...] = ()
    system: Path | None = None

    @classmethod
    def read(cls, place: Path) -> "Place":
        """Look at a file, or at a folder and the folders in it; paths are absolute in the end."""
        place = place.resolve()
        if place.is_file():
            if place.name == SYSTEM_FILE:
                return cls(system=place)
            return cls(((place,),)) if _has_tools(place) else cls()
        if not place.is_dir():
            return cls()
        folders = [place, *sorted(child for child in place.glob("*") if child.is_dir())]
        namespaces = tuple(files for folder in folders if (files := _tool_files(folder)))
        system = place / SYSTEM_FILE
        return cls(namespaces, system if system.is_file() else None)

    def __bool__(self) -> bool:
        return bool(self.namespaces or self.system)


def _tool_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in folder.glob("*.py") if _has_tools(file)))


def _has_tools(file: Path) -> bool:
    """Whether it uses the decorator; a name that begins with `_` is of no module of tools."""
    if file.suffix != ".py" or file.name.startswith("_") or not file.is_file():
        return False
    try:
        text = b"" if file.stat().st_size > MAX_FILE_BYTES else file.read_bytes()
    except OSError:
        return False
    return bool(_DECORATOR.search(text) and _PACKAGE.search(text))
