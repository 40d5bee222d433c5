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

# Files of a project that a run does not need. `.env` belongs to the project's developer. A run gets
# an empty `.env`.
_SKIPPED_NAMES = frozenset(
    (
        *(".git", ".hg", ".svn", ".venv", "venv", ".env", ".tox", ".nox"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    )
)


def program_folder(place: Path) -> Path:
    """Return the folder of the program and its `config`: the given folder, or `src` in it."""
    for folder in (place, place / "src"):
        if (folder / "config" / "properties.json").is_file():
            return folder
    return place / "src" if (place / "src" / "config").is_dir() else place


def check_size(place: Path, limits: ProcessLimits) -> None:
    """Raise an error if a copy of the tool would exceed the limits of a scratch directory.

    Raises:
        ValidationError: with code `tool_too_large`.
    """
    for _ in _members(place, limits):
        pass


def copy_tool(place: Path, target: Path, limits: ProcessLimits) -> None:
    """Copy the folder to `target`, which must not exist.

    Links remain links. Entries that are neither files, folders, nor links are omitted.

    Raises:
        ValidationError: with code `tool_too_large` for more than half of the limits of a scratch
            directory.
    """
    target.mkdir(parents=True)
    for path, mode in _members(place, limits):
        target_path = target / path.relative_to(place)
        if stat.S_ISDIR(mode):
            target_path.mkdir()
        elif stat.S_ISLNK(mode):
            target_path.symlink_to(_link_target(path, place))
        else:
            shutil.copyfile(path, target_path, follow_symlinks=False)
            target_path.chmod(mode & 0o777 | 0o400)


def _members(place: Path, limits: ProcessLimits) -> Iterator[tuple[Path, int]]:
    """Yield every path to copy with its mode, folders before their content."""
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
    return entry.name in _SKIPPED_NAMES or Path(entry.path, "pyvenv.cfg").is_file()


def _link_target(path: Path, place: Path) -> Path:
    """Return the target of a link's copy: a path inside the copy, or the original path outside."""
    target = path.readlink()
    resolved_target = (path.parent / target).resolve()
    if target.is_absolute() or resolved_target.is_relative_to(place.resolve()):
        return target
    return resolved_target


def _too_large(place: Path, limits: ProcessLimits) -> ValidationError:
    return ValidationError(
        "tool_too_large",
        f"{place} exceeds {limits.files // 2} files or {limits.disk_bytes // 2} bytes",
        hint="Each run copies the folder. Move files that the tool does not need to another"
        " folder.",
    )


_HINT = (
    "Put main.py or an executable main beside config/, or name the program with --entrypoint. "
    "If the tool is only an image, pass --image."
)
_PYTHON = re.compile(r"python(3(\.\d+)?)?", re.ASCII)
_ENTRYPOINT = re.compile(r"^\s*ENTRYPOINT\s+(\[.*\])\s*$", re.ASCII | re.IGNORECASE | re.MULTILINE)
_MAX_DOCKERFILE = 2**20


@dataclass(frozen=True, slots=True)
class Program:
    """The words of a command line. The first word may be a file of the tool, or `python`."""

    words: tuple[str, ...]

    def command(self, folder: Path, python: Path) -> list[str]:
        """Return the command line for a program folder. `python` runs tools in Python."""
        first, *others = self.words
        if _PYTHON.fullmatch(first):
            return [str(python), *others]
        file = folder / first
        return [str(file) if file.is_file() else first, *others]


def find_program(
    folder: Path, place: Path, entrypoint: Sequence[str], search_path: str | None
) -> Program:
    """Return the program of a tool.

    The candidates are `entrypoint`, main.py, an executable `main`, and the Dockerfile's entrypoint,
    in this order. `folder` is the working directory of the program, and `place` is the folder of
    the Dockerfile.

    Raises:
        NotFoundError: with code `program_not_found` if no program or more than one exists, or a
            program that cannot be found.
    """
    program = _choose_program(folder, place, entrypoint)
    first = program.words[0]
    file = folder / first
    is_executable = (
        os.access(file, os.X_OK) if file.is_file() else shutil.which(first, path=search_path)
    )
    if not is_executable and not _PYTHON.fullmatch(first):
        raise _missing(f"{first!r} is neither an executable in {folder} nor on the PATH")
    return program


def _choose_program(folder: Path, place: Path, entrypoint: Sequence[str]) -> Program:
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
    """Return the last ENTRYPOINT in exec form, or an empty tuple."""
    try:
        with dockerfile.open("rb") as file:
            text = file.read(_MAX_DOCKERFILE).decode("utf-8", "replace")
    except OSError:
        return ()
    entrypoints = _ENTRYPOINT.findall(re.sub(r"\\[ \t]*\n", " ", text))
    try:
        words = json.loads(entrypoints[-1]) if entrypoints else []
    except (ValueError, RecursionError):
        return ()
    if not all(isinstance(word, str) and word for word in words):
        return ()
    return tuple(words)


def _missing(problem: str) -> NotFoundError:
    return NotFoundError("program_not_found", problem, hint=_HINT)
