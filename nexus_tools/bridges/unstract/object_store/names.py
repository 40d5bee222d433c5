"""Names of buckets and objects, which strangers choose: checked before any file is touched."""

import re
from dataclasses import dataclass

from nexus_tools.bridges.unstract.object_store.fault import FaultError

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
