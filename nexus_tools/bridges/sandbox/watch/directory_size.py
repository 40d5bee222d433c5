"""The size of a directory, measured only up to its limit."""

import errno
import os
from collections.abc import Iterator


def exceeds_limits(folder: str, *, disk_bytes: int, files: int) -> bool:
    """Return whether `folder` contains more bytes or more files (including folders) than allowed.

    The walk stops as soon as a limit is exceeded, so it visits at most `files` entries. A tree
    whose paths exceed the maximum path length also exceeds the limits.
    """
    pending = [folder]
    size = count = 0
    try:
        while pending:
            for entry in _entries(pending.pop()):
                count += 1
                size += _size(entry)
                if count > files or size > disk_bytes:
                    return True
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder. A folder that was removed has no entries.

    The program may have removed the permissions of a folder, and can restore them later. The walk
    restores the permissions, so that the program cannot hide files in the folder.
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
    """Return the larger of a file's nominal and allocated size in bytes, or 0 if it was removed."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return 0
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0
    return max(status.st_size, status.st_blocks * 512)
