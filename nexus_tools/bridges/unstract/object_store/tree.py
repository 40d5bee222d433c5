"""The files under a store's root, reached one name at a time: no symbolic link is followed.

Every function takes a place as a tuple of names below the root. What is written comes from files
of the store's own staging directory, by one rename.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.names import MAX_DEPTH, is_bucket_name, is_file_name
from nexus_tools.bridges.unstract.object_store.quota import Quota

Place = tuple[str, ...]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not to wait for the other end of a pipe that lies there under a file's name.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Found:
    """A file or directory, by its path from where the walk began."""

    name: str
    is_directory: bool


class Tree:
    """The directory `root`; its direct subdirectories are the buckets."""

    def __init__(self, root: Path, quota: Quota) -> None:
        self._root = root
        self._quota = quota

    def measure(self) -> None:
        """Count what lies in the tree already."""
        for directory, directories, files in os.walk(self._root):
            self._quota.used_files += len(directories) + len(files)
            for name in files:
                self._quota.used_bytes += os.lstat(Path(directory, name)).st_size

    def buckets(self) -> list[tuple[str, float]]:
        """Names of the buckets, and when each was changed last."""
        with os.scandir(self._root) as entries:
            found = [
                (entry.name, entry.stat(follow_symlinks=False).st_mtime)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and is_bucket_name(entry.name)
            ]
        return sorted(found)

    def open(self, place: Place) -> BinaryIO:
        """A regular file for reading; `FileNotFoundError` for anything else."""
        try:
            with self._directory(place[:-1]) as parent:
                descriptor = os.open(place[-1], _FILE, dir_fd=parent)
        except OSError as error:
            raise FileNotFoundError(str(place)) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileNotFoundError(str(place))
        return open(descriptor, "rb")  # noqa: PTH123 - it is a descriptor

    def has_directory(self, place: Place) -> bool:
        """Whether every name of a place is a directory."""
        try:
            with self._directory(place):
                return True
        except OSError:
            return False

    def directory_time(self, place: Place) -> float:
        """When a directory was changed last, in seconds since 1970."""
        with self._directory(place) as descriptor:
            return os.fstat(descriptor).st_mtime

    def publish(self, staged: Path, place: Place, *, only_new: bool = False) -> None:
        """Move a staged file to its place, over a file that is there unless `only_new`."""
        with _clashes(place), self._directory(place[:-1], create=True) as parent:
            replaced = _size(place[-1], parent)
            if replaced is None:
                self._quota.take_file()
            elif only_new:
                raise FaultError("PreconditionFailed", "there is an object of this name already")
            os.rename(staged, place[-1], dst_dir_fd=parent)
            self._quota.give(size=replaced or 0)

    def make_directory(self, place: Place) -> None:
        """Make a directory and those above it, where they are missing."""
        with _clashes(place), self._directory(place, create=True):
            pass

    def remove(self, place: Place) -> None:
        """Delete a file, if there is one; a directory is none."""
        with suppress(FileNotFoundError, NotADirectoryError), self._directory(place[:-1]) as parent:
            status = os.stat(place[-1], dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                os.unlink(place[-1], dir_fd=parent)
                self._quota.give(size=status.st_size, files=1)

    def remove_directory(self, place: Place) -> bool:
        """Delete a directory if it is there and empty; says whether it did."""
        with suppress(OSError), self._directory(place[:-1]) as parent:
            os.rmdir(place[-1], dir_fd=parent)
            self._quota.give(files=1)
            return True
        return False

    def walk(self, place: Place) -> Iterator[Found]:
        """Every file below a place, and every directory, with names from the place down."""
        with suppress(OSError), self._directory(place) as descriptor:
            yield from _walk(descriptor, "")

    @contextmanager
    def _directory(self, place: Sequence[str], *, create: bool = False) -> Iterator[int]:
        descriptor = os.open(self._root, _DIRECTORY)
        try:
            for name in place:
                if create:
                    self._make(name, descriptor)
                inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _make(self, name: str, parent: int) -> None:
        try:
            os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            self._quota.take_file()
            os.mkdir(name, 0o700, dir_fd=parent)


@contextmanager
def _clashes(place: Place) -> Iterator[None]:
    """Say in S3's way that a file and a directory want the same name."""
    try:
        yield
    except (NotADirectoryError, IsADirectoryError, FileExistsError) as error:
        key = "/".join(place[1:])
        message = f"{key!r} would be a file and a directory at once, and objects are files here"
        raise FaultError("KeyConflict", message) from error


def _size(name: str, parent: int) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_size
    except FileNotFoundError:
        return None


def _walk(descriptor: int, above: str) -> Iterator[Found]:
    with os.scandir(descriptor) as entries:
        found = [
            (entry.name, entry.is_dir(follow_symlinks=False))
            for entry in entries
            if is_file_name(entry.name)
            and (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False))
        ]
    for name, is_directory in found:
        yield Found(above + name, is_directory)
        if is_directory and above.count("/") < MAX_DEPTH:
            with suppress(OSError):
                inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
                try:
                    yield from _walk(inner, f"{above}{name}/")
                finally:
                    os.close(inner)
