"""A consistent copy of an SQLite file that another process has locked."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WAL_HEADER_BYTES = 32
_MAX_COPIES = 20


class FileChangedError(Exception):
    """The other process changed the file during each copy."""


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Return a copy of a file in WAL mode until the block ends. Only the user can read it.

    The other process may move transactions from the write-ahead log (WAL) into the file during the
    copy. The copy of the file may then be a mixture, but the copy of the WAL contains all the
    pages that differ. The copies do not belong together only if the WAL was started again, which
    changes its header before its content.

    Raises `FileChangedError`, or `OSError` if a file cannot be read.
    """
    wal = path.with_name(f"{path.name}-wal")
    with tempfile.TemporaryDirectory(prefix="nexus-tools-") as folder:
        copy = Path(folder) / path.name
        for _ in range(_MAX_COPIES):
            state = _state(path, wal)
            shutil.copyfile(path, copy)
            try:
                shutil.copyfile(wal, copy.with_name(wal.name))
            except FileNotFoundError:
                copy.with_name(wal.name).unlink(missing_ok=True)
            if _state(path, wal) == state:
                break
        else:
            raise FileChangedError
        yield copy


def _state(path: Path, wal: Path) -> object:
    """Return the header of the WAL, or the time of the last change if the WAL is empty."""
    try:
        with wal.open("rb") as file:
            header = file.read(_WAL_HEADER_BYTES)
    except FileNotFoundError:
        header = b""
    return header or path.stat().st_mtime_ns
