"""Files that only their owner reads, replaced at once."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nexus_tools.sui.support.text_file import read_text

try:
    import fcntl
except ImportError:  # Windows: two programs that change one wallet at once are not kept apart
    fcntl = None  # type: ignore[assignment]  # the only use asks for it first


def read_private(path: Path) -> str:
    """The text of a file; empty, if there is none."""
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""


def write_private(path: Path, text: str) -> None:
    """Replace a file by one of mode 0600 with this text, or leave it untouched."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_names(path.parent)


def create_private(path: Path, text: str) -> None:
    """Make a file of mode 0600 with this text. Raises `FileExistsError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _sync_names(path.parent)


def _sync_names(folder: Path) -> None:
    """Wait until the names of new files outlast a loss of power, where the system can do so."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some network file systems refuse it for a folder
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_exposed(path: Path) -> bool:
    """Whether a file exists and others than its owner may read or write it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return os.name == "posix" and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing `path` through this function meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
