"""Private files, which only the owner can read, and which are replaced atomically."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL
from pathlib import Path
from typing import IO

from nexus_tools.sui.support.text_file import read_text

try:
    import fcntl
except ImportError:  # Windows, where files are not locked
    fcntl = None  # type: ignore[assignment]  # checked before its uses


def read_private(path: Path) -> str:
    """Return the text of a file, or an empty string if it does not exist."""
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""


def write_private(path: Path, text: str) -> None:
    """Write text to a file of mode 0600. An existing file is replaced atomically."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, text.encode())


def replace_file(path: Path, data: bytes, *, like: os.stat_result | None = None) -> None:
    """Replace a file atomically. Its mode is 0600, or the mode and the owner of `like`."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None and os.name == "posix":
                with suppress(PermissionError):  # only root may give files to another owner
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_names(path.parent)


def create_private(path: Path, text: str) -> None:
    """Create a file of mode 0600 with this text. Raises `FileExistsError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _sync_names(path.parent)


def _sync_names(folder: Path) -> None:
    """Flush a directory (POSIX only), so that new file names survive a power loss."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some network file systems cannot flush a directory
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_exposed(path: Path) -> bool:
    """Return whether a file exists and users other than its owner may access it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return os.name == "posix" and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


def open_lock(path: Path) -> IO[str]:
    """Open or create a lock file, and never change another file. Raises `OSError`.

    Other users may write to a shared folder. There, the path may be a symlink to a file of this
    user, or a FIFO, which would block.
    """
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | safe, 0o600), "r+", encoding="utf-8")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(EINVAL, "not a regular file", str(path))
    return file


def try_lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed. Return False if another process has locked it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock `path` with a lock file until the block ends. Other processes wait for the lock."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_lock(path.with_name(f".{path.name}.lock")) as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """Lock a folder until the block ends, without a lock file. Other processes wait.

    The block runs without a lock on Windows, and on file systems that cannot lock folders.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
