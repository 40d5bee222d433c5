"""The folder of a tool, and the program in it."""

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.errors import NotFoundError, ValidationError

# What a project has beside its program. `.env` is its developer's: a run has an empty one.
_LEFT_OUT = frozenset(
    (
        *(".git", ".hg", ".svn", ".venv", "venv", ".env", ".tox", ".nox"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    )
)


def program_folder(place: Path) -> Path:
    """Where the tool's program and its `config` are: the place, or `src` in it."""
    for folder in (place, place / "src"):
        if (folder / "config" / "properties.json").is_file():
            return folder
    return place / "src" if (place / "src" / "config").is_dir() else place


def check_size(place: Path, limits: ProcessLimits) -> None:
    """Raise `ValidationError` (`tool_too_large`) if a copy would take too much of a scratch."""
    for _ in _members(place, limits):
        pass


def copy_tool(place: Path, target: Path, limits: ProcessLimits) -> None:
    """Copy the folder to `target`, which is not there yet.

    Links stay links; what is neither file, folder nor link is left out. Raises `ValidationError`
    with code `tool_too_large` beyond half of what a scratch directory may hold.
    """
    target.mkdir(parents=True)
    for path, mode in _members(place, limits):
        copied = target / path.relative_to(place)
        if stat.S_ISDIR(mode):
            copied.mkdir()
        elif stat.S_ISLNK(mode):
            copied.symlink_to(_link(path, place))
        else:
            shutil.copyfile(path, copied, follow_symlinks=False)
            copied.chmod(mode & 0o777 | 0o400)


def _members(place: Path, limits: ProcessLimits) -> Iterator[tuple[Path, int]]:
    """Everything to be copied with its mode, folders before what is in them."""
    files_left, bytes_left = limits.files // 2, limits.disk_bytes // 2
    pending = [place]
    while pending:
        for entry in sorted(os.scandir(pending.pop()), key=lambda entry: entry.name):
            if _is_left_out(entry):
                continue
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                pending.append(Path(entry.path))
            elif not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue
            files_left -= 1
            bytes_left -= status.st_size
            if files_left < 0 or bytes_left < 0:
                raise _too_large(place, limits)
            yield Path(entry.path), status.st_mode


def _is_left_out(entry: os.DirEntry[str]) -> bool:
    return entry.name in _LEFT_OUT or Path(entry.path, "pyvenv.cfg").is_file()


def _link(path: Path, place: Path) -> Path:
    """Where the copy of a link leads: along in the copy, or to the same place outside of it."""
    target = path.readlink()
    leads_to = (path.parent / target).resolve()
    if target.is_absolute() or leads_to.is_relative_to(place.resolve()):
        return target
    return leads_to


def _too_large(place: Path, limits: ProcessLimits) -> ValidationError:
    return ValidationError(
        "tool_too_large",
        f"{place} has more than {limits.files // 2} files or {limits.disk_bytes // 2} bytes",
        hint="each run has a copy of it: move away what the tool does not need",
    )


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
