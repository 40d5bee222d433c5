"""Which program of a tool's folder is run, and by what command line."""

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nexus_tools.errors import NotFoundError

_HINT = (
    "put main.py or an executable main beside config/, or name the program with --entrypoint; "
    "a tool that is an image only is served with --image"
)
_PYTHON = re.compile(r"python(3(\.\d+)?)?", re.ASCII)
_ENTRYPOINT = re.compile(r"^\s*ENTRYPOINT\s+(\[.*\])\s*$", re.ASCII | re.IGNORECASE | re.MULTILINE)
_MAX_DOCKERFILE = 2**20


@dataclass(frozen=True, slots=True)
class Program:
    """The words of a command line; the first may be a file of the tool's, or `python`."""

    words: tuple[str, ...]

    def command(self, folder: Path, python: Path) -> list[str]:
        """The command line for a program folder, with `python` for tools in Python."""
        first, *others = self.words
        if _PYTHON.fullmatch(first):
            return [str(python), *others]
        own = folder / first
        return [str(own) if own.is_file() else first, *others]


def find_program(
    folder: Path, place: Path, entrypoint: Sequence[str], search_path: str | None
) -> Program:
    """The program of a tool: `entrypoint`, main.py, an executable `main`, the Dockerfile's own.

    `folder` is where the program runs, `place` where the Dockerfile is. Raises `NotFoundError`
    with code `program_missing` if there is none, several, or one that cannot be found.
    """
    program = _named(folder, place, entrypoint)
    first = program.words[0]
    own = folder / first
    is_there = os.access(own, os.X_OK) if own.is_file() else shutil.which(first, path=search_path)
    if not is_there and not _PYTHON.fullmatch(first):
        raise _missing(f"{first!r} is no executable of {folder}, and not on the PATH")
    return program


def _named(folder: Path, place: Path, entrypoint: Sequence[str]) -> Program:
    if entrypoint:
        return Program(tuple(entrypoint))
    if (folder / "main.py").is_file():
        return Program(("python", "main.py"))
    mains = [path.name for path in sorted(folder.glob("main*")) if _is_main(path)]
    if len(mains) > 1 and "main" not in mains:
        raise _missing(f"{folder} has several programs: {', '.join(mains)[:200]}")
    if mains:
        return Program((mains[0],))
    words = _dockerfile_entrypoint(place / "Dockerfile")
    if not words:
        raise _missing(f"{folder} has no program")
    return Program(words)


def _is_main(path: Path) -> bool:
    return path.stem == "main" and path.is_file() and os.access(path, os.X_OK)


def _dockerfile_entrypoint(dockerfile: Path) -> tuple[str, ...]:
    """The last ENTRYPOINT in exec form; empty if there is none."""
    try:
        with dockerfile.open("rb") as file:
            text = file.read(_MAX_DOCKERFILE).decode("utf-8", "replace")
    except OSError:
        return ()
    found = _ENTRYPOINT.findall(re.sub(r"\\[ \t]*\n", " ", text))
    try:
        words = json.loads(found[-1]) if found else []
    except (ValueError, RecursionError):
        return ()
    if not all(isinstance(word, str) and word for word in words):
        return ()
    return tuple(words)


def _missing(problem: str) -> NotFoundError:
    return NotFoundError("program_missing", problem, hint=_HINT)
