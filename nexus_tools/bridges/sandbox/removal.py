"""Removes a directory whatever was made in it: shut folders, trees deeper than a path can name."""

import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def remove(folder: Path) -> None:
    """Remove `folder` and all in it, or what stands in its place now.

    Nothing may be at work in there any more. It takes two descriptors and no stack at any depth,
    as it climbs up by `..`. Raises `OSError` for what even its owner cannot remove.
    """
    if not _is_folder(folder):
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o700)
    here = os.open(folder, _FOLDER)
    names: list[str] = []
    try:
        waiting = [_clear(here)]
        while waiting:
            if waiting[-1]:
                names.append(waiting[-1].pop())
                here = _move(here, names[-1])
                waiting.append(_clear(here))
            else:
                waiting.pop()
                if names:
                    here = _move(here, "..")
                    os.rmdir(names.pop(), dir_fd=here)
    finally:
        os.close(here)
    folder.rmdir()


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _move(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def _clear(here: int) -> list[str]:
    """Remove all that is no folder, and open the folders to their owner; their names."""
    folders = []
    for name in os.listdir(here):
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            os.unlink(name, dir_fd=here)
            continue
        if mode & 0o700 != 0o700:
            os.chmod(name, 0o700, dir_fd=here)
        folders.append(name)
    return folders
