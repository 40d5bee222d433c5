"""The folder of a tool, and the private copy of it that each run has."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.errors import ValidationError

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
