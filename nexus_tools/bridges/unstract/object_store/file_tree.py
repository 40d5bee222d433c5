"""The files under a store's root, accessed one path component at a time without following links.

Names come from untrusted clients and are checked before any file is accessed. Every function of the
tree takes a path as a tuple of names below the root. New files come from the store's own staging
directory and are moved by a single rename.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nexus_tools.bridges.unstract.object_store.xml_documents import S3Error

MAX_KEY_BYTES = 1_024
MAX_NAME_BYTES = 255
MAX_DEPTH = 64

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]")

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectName:
    """The path of an object in the tree: the names from the bucket to the file.

    `is_directory` is true for a key that ends in `/`, which represents a directory.
    """

    parts: Place
    is_directory: bool

    @classmethod
    def parse(cls, bucket: str, key: str) -> "ObjectName":
        """Parse a key of a bucket as a relative path of plain names, or raise `S3Error`."""
        if len(key.encode()) > MAX_KEY_BYTES:
            raise S3Error("KeyTooLongError", f"a key must have at most {MAX_KEY_BYTES} bytes")
        names = key.removesuffix("/").split("/")
        if len(names) > MAX_DEPTH:
            raise S3Error("InvalidArgument", f"a key must have at most {MAX_DEPTH} components")
        problem = next(filter(None, map(_problem, names)), "")
        if problem:
            raise S3Error("InvalidArgument", f"the key is not a valid path: {problem}")
        return cls((check_bucket_name(bucket), *names), key.endswith("/"))


def check_bucket_name(name: str) -> str:
    """Return the name if it is a valid bucket name, or raise `S3Error`."""
    if not _is_bucket_name(name):
        message = "a bucket name must have 3 to 63 characters of a-z, 0-9, '.', and '-'"
        raise S3Error("InvalidBucketName", message)
    return name


def is_file_name(name: str) -> bool:
    """Return whether a name can be a component of a key."""
    return not _problem(name)


def _is_bucket_name(name: str) -> bool:
    return bool(_BUCKET.fullmatch(name)) and ".." not in name


def _problem(name: str) -> str:
    if name in ("", ".", ".."):
        return "a component is empty, '.', or '..'"
    if _CONTROL.search(name):
        return "a component contains control characters"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "a component is not UTF-8"
    return f"a component has more than {MAX_NAME_BYTES} bytes" if size > MAX_NAME_BYTES else ""


# --- The quota


class Quota:
    """The used and allowed numbers of bytes and files, including directories."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._used_bytes = 0
        self._used_files = 0

    def measure(self, root: Path) -> None:
        """Count the existing content of a directory."""
        for folder, directories, files in os.walk(root):
            self._used_files += len(directories) + len(files)
            self._used_bytes += sum(os.lstat(Path(folder, name)).st_size for name in files)

    def take(self, *, size: int = 0, files: int = 0) -> None:
        """Count bytes and files before they are written, or raise `S3Error` over the limit."""
        if self._used_bytes + size > self._max_bytes:
            raise S3Error("QuotaExceeded", f"the store is limited to {self._max_bytes} bytes")
        if self._used_files + files > self._max_files:
            raise S3Error("QuotaExceeded", f"the store is limited to {self._max_files} files")
        self._used_bytes += size
        self._used_files += files

    def give(self, *, size: int = 0, files: int = 0) -> None:
        """Subtract deleted bytes and files.

        Files that other programs created may not be counted.
        """
        self._used_bytes = max(0, self._used_bytes - size)
        self._used_files = max(0, self._used_files - files)


# --- The files

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK prevents the open call from blocking if the path is a named pipe.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Tree:
    """The directory `root`. The direct subdirectories of this directory are the buckets."""

    def __init__(self, root: Path, quota: Quota) -> None:
        self._root = root
        self.quota = quota

    def buckets(self) -> list[tuple[str, float]]:
        """Return the names of the buckets with their modification times."""
        with os.scandir(self._root) as entries:
            return sorted(
                (entry.name, entry.stat(follow_symlinks=False).st_mtime)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and _is_bucket_name(entry.name)
            )

    def open(self, place: Place) -> BinaryIO:
        """Open a regular file for reading, or raise `FileNotFoundError`."""
        try:
            with self._directory(place[:-1]) as parent:
                descriptor = os.open(place[-1], _FILE, dir_fd=parent)
        except OSError as error:
            raise FileNotFoundError(str(place)) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileNotFoundError(str(place))
        return open(descriptor, "rb")  # noqa: PTH123 - the argument is a descriptor

    def directory(self, place: Place) -> os.stat_result | None:
        """Return the status of a directory, or None if it does not exist."""
        with suppress(OSError), self._directory(place) as descriptor:
            return os.fstat(descriptor)
        return None

    def publish(self, staged: Path, place: Place, *, only_new: bool = False) -> None:
        """Move a staged file to its path, replacing a file unless `only_new`."""
        with _key_conflicts(place), self._directory(place[:-1], create=True) as parent:
            replaced = _status(place[-1], parent)
            if replaced and only_new:
                raise S3Error("PreconditionFailed", "an object with this name already exists")
            os.rename(staged, place[-1], dst_dir_fd=parent)
            if replaced:
                self.quota.give(size=replaced.st_size, files=1)

    def make_directory(self, place: Place) -> None:
        """Create a directory and its missing parents."""
        with _key_conflicts(place), self._directory(place, create=True):
            pass

    def remove(self, place: Place) -> None:
        """Delete a file if it exists, and the directories that become empty."""
        with suppress(OSError), self._directory(place[:-1]) as parent:
            status = os.stat(place[-1], dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                os.unlink(place[-1], dir_fd=parent)
                self.quota.give(size=status.st_size, files=1)
        self.prune(place[:-1])

    def prune(self, place: Place) -> None:
        """Delete an empty directory and the parents that become empty, except the bucket."""
        with suppress(OSError):
            while len(place) > 1:
                with self._directory(place[:-1]) as parent:
                    os.rmdir(place[-1], dir_fd=parent)
                self.quota.give(files=1)
                place = place[:-1]

    def walk(self, place: Place) -> Iterator[tuple[str, os.stat_result]]:
        """Yield every file below a path, such as `deep/file`, and empty directories.

        The name of an empty directory ends in `/`.
        """
        with suppress(OSError), self._directory(place) as top:
            for path, directories, files, folder in os.fwalk(".", dir_fd=top):
                above = f"{path}/".removeprefix("./")
                if not directories and not files:
                    yield above, os.fstat(folder)
                can_descend = above.count("/") < MAX_DEPTH
                directories[:] = filter(is_file_name, directories) if can_descend else ()
                for name in filter(is_file_name, files):
                    status = _status(name, folder)
                    if status and stat.S_ISREG(status.st_mode):
                        yield above + name, status

    @contextmanager
    def _directory(self, place: Sequence[str], *, create: bool = False) -> Iterator[int]:
        descriptor = os.open(self._root, _DIRECTORY)
        try:
            for name in place:
                if create and _status(name, descriptor) is None:
                    self.quota.take(files=1)
                    os.mkdir(name, 0o700, dir_fd=descriptor)
                inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def _key_conflicts(place: Place) -> Iterator[None]:
    """Raise `KeyConflict` if a file and a directory have the same name."""
    try:
        yield
    except (NotADirectoryError, IsADirectoryError, FileExistsError) as error:
        key = "/".join(place[1:])
        message = f"{key!r} cannot be both a file and a directory"
        raise S3Error("KeyConflict", message) from error


def _status(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
