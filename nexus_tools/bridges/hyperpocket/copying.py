"""Copies of a tool's folder: the one that is built, and the one that a call has to itself."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nexus_tools.errors import UsageError

MAX_BYTES = 64 * 2**20
MAX_FILES = 5_000

# What other runs and other machines have left in a folder is no part of the tool.
_ASIDE = {".git", "__pycache__", "node_modules", ".venv", "venv", ".pytest_cache", ".ruff_cache"}


def copy_sources(source: Path, target: Path) -> str:
    """Copy a tool's folder to the new folder `target`, and give the SHA-256 of what is in it.

    Links out of the folder are left out. Raises `UsageError` (`tool_too_large`) for more than
    64 MiB or 5 000 files.
    """
    root = source.resolve()
    files = list(islice(_files(root), MAX_FILES + 1))
    if len(files) > MAX_FILES or sum(path.stat().st_size for path in files) > MAX_BYTES:
        message = f"the folder {source} has more than {MAX_BYTES} bytes or {MAX_FILES} files"
        raise UsageError("tool_too_large", message, hint="keep data out of the tool's folder")
    digest = hashlib.sha256()
    target.mkdir(mode=0o700, parents=True)
    for path in files:
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        executable = path.stat().st_mode & stat.S_IXUSR
        place.chmod(0o700 if executable else 0o600)
        digest.update(_line(path.relative_to(root), bool(executable), place))
    return digest.hexdigest()


def private_copy(built: Path, sources: frozenset[str], target: Path) -> None:
    """Fill `target` for one call: copies of the tool's own files, links to what its build made.

    `sources` are the names that its folder had at the top before it was built.
    """
    for entry in sorted(built.iterdir()):
        place = target / entry.name
        if entry.name not in sources:
            place.symlink_to(entry)
        elif entry.is_dir():
            shutil.copytree(entry, place, symlinks=True)
        else:
            shutil.copy2(entry, place)


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _ASIDE)
        for name in sorted(names):
            path = Path(folder, name)
            # A pipe or device would block; a link may lead to what is none of the tool's business.
            if path.is_file() and path.resolve().is_relative_to(root):
                yield path


def _line(relative: Path, executable: bool, place: Path) -> bytes:
    with place.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{os.fspath(relative)}\0{int(executable)}\0{content}\n".encode(
        "utf-8", "surrogateescape"
    )
