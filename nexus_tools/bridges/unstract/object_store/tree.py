"""The files under a store's root, reached one name at a time: no symbolic link is followed.

Names are chosen by strangers, and checked before any file is touched. Every function of the tree
takes a place as a tuple of names below the root. What is written comes from files of the store's
own staging directory, by one rename.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nexus_tools.bridges.unstract.object_store.documents import FaultError

MAX_KEY_BYTES = 1_024
MAX_NAME_BYTES = 255
MAX_DEPTH = 64

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class ObjectName:
    """An object as a place in the tree: the names from the bucket down to the file.

    `is_directory` is true for a key that ends in `/`, which marks a directory.
    """

    parts: tuple[str, ...]
    is_directory: bool

    @classmethod
    def parse(cls, bucket: str, key: str) -> "ObjectName":
        """Check a key of a bucket: a relative path of plain names, or `FaultError`."""
        if len(key.encode()) > MAX_KEY_BYTES:
            raise FaultError("KeyTooLongError", f"a key has at most {MAX_KEY_BYTES} bytes")
        names = key.removesuffix("/").split("/")
        if len(names) > MAX_DEPTH:
            raise FaultError("InvalidArgument", f"a key has at most {MAX_DEPTH} parts")
        problem = next(filter(None, map(_problem, names)), "")
        if problem:
            raise FaultError("InvalidArgument", f"the key cannot be a file: {problem}")
        return cls((bucket_name(bucket), *names), key.endswith("/"))

    @property
    def key(self) -> str:
        """The key within the bucket."""
        return "/".join(self.parts[1:]) + ("/" if self.is_directory else "")


def is_bucket_name(name: str) -> bool:
    """Whether S3 allows the name: 3 to 63 of a-z, 0-9, `.` and `-`."""
    return bool(_BUCKET.fullmatch(name)) and ".." not in name


def bucket_name(name: str) -> str:
    """The name, if a bucket can have it."""
    if not is_bucket_name(name):
        message = "a bucket's name has 3 to 63 characters of a-z, 0-9, '.' and '-'"
        raise FaultError("InvalidBucketName", message)
    return name


def is_file_name(name: str) -> bool:
    """Whether a name found in a directory can be part of a key."""
    return not _problem(name)


def _problem(name: str) -> str:
    if name in ("", ".", ".."):
        return "a part of it is empty, '.' or '..'"
    if _CONTROL.search(name):
        return "it has control characters"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it is not UTF-8"
    return f"a part of it has more than {MAX_NAME_BYTES} bytes" if size > MAX_NAME_BYTES else ""


# --- How much there is


class Quota:
    """Bytes and files (directories count too) that are used, of those that are allowed."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes = max_bytes
        self.max_files = max_files
        self.used_bytes = 0
        self.used_files = 0

    def check(self, more_bytes: int) -> None:
        """Raise `FaultError` unless there is room for so many more bytes."""
        if self.used_bytes + more_bytes > self.max_bytes:
            raise FaultError("QuotaExceeded", f"the store holds at most {self.max_bytes} bytes")

    def take_bytes(self, count: int) -> None:
        """Count bytes before they are written."""
        self.check(count)
        self.used_bytes += count

    def take_file(self) -> None:
        """Count a file or directory before it is made."""
        if self.used_files >= self.max_files:
            raise FaultError("QuotaExceeded", f"the store holds at most {self.max_files} files")
        self.used_files += 1

    def give(self, *, size: int = 0, files: int = 0) -> None:
        """Count what is gone; what came into the tree by other ways may go uncounted."""
        self.used_bytes = max(0, self.used_bytes - size)
        self.used_files = max(0, self.used_files - files)


# --- The files

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
