"""How much a directory holds, measured no further than it may hold."""

import errno
import os
from collections.abc import Iterator


def is_over(folder: str, *, disk_bytes: int, files: int) -> bool:
    """Whether there are more bytes or more files (folders too) under `folder`.

    The walk ends when that is known, so it never looks at more than `files` of them. What lies
    deeper than a path can name is over as well.
    """
    waiting = [folder]
    size = count = 0
    try:
        while waiting:
            for entry in _entries(waiting.pop()):
                count += 1
                size += _size(entry)
                if count > files or size > disk_bytes:
                    return True
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if it is gone.

    Its owner may have shut it, and may open it again: so do we, as nothing may hide in it.
    """
    try:
        if not os.access(folder, os.R_OK | os.X_OK):
            os.chmod(folder, 0o700)  # noqa: PTH101 - pathlib costs 10 ms of every run
        entries = os.scandir(folder)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise
        return
    with entries:
        yield from entries


def _size(entry: os.DirEntry[str]) -> int:
    """The larger of what a file seems to have and what it takes; nothing if it is gone."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return 0
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0
    return max(status.st_size, status.st_blocks * 512)
