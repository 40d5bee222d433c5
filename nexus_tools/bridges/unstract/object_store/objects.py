"""The objects of a store: files of the tree, with what S3 says about each; and uploads in parts."""

import asyncio
import hashlib
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from nexus_tools.bridges.unstract.object_store.documents import FaultError
from nexus_tools.bridges.unstract.object_store.request import Body
from nexus_tools.bridges.unstract.object_store.tree import (
    ObjectName,
    Place,
    Quota,
    Tree,
    bucket_name,
)

DEFAULT_TYPE = "binary/octet-stream"
EMPTY_MD5 = hashlib.md5(usedforsecurity=False).hexdigest()

_BLOCK_BYTES = 256 * 1_024


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a client says of its object: headers that come back with it, `x-amz-meta-…` too."""

    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": DEFAULT_TYPE})


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What HeadObject tells; `etag` without its quotes."""

    size: int
    etag: str
    modified: datetime
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that is written and not published; its bytes are counted, its file is not."""

    path: Path
    size: int
    etag: str


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What is known of a file as long as it is the same file."""

    identity: tuple[int, int, int]
    etag: str
    attributes: Attributes


class Objects:
    """Reads and writes objects; `staging` is a directory of the store's own beside the buckets."""

    def __init__(self, tree: Tree, quota: Quota, staging: Path) -> None:
        self.tree = tree
        self.quota = quota
        self._staging = staging
        self._remembered: dict[Place, _Remembered] = {}
        self._markers: set[Place] = set()

    def check_bucket(self, bucket: str) -> None:
        """Raise `NoSuchBucket` unless there is the bucket."""
        if not self.tree.has_directory((bucket_name(bucket),)):
            raise FaultError("NoSuchBucket", f"there is no bucket {bucket}")

    def open(self, name: ObjectName) -> BinaryIO:
        """The object's content; `NoSuchKey` if there is none."""
        try:
            return self.tree.open(name.parts)
        except FileNotFoundError:
            raise _no_such_key(name) from None

    async def info(self, name: ObjectName, content: BinaryIO | None = None) -> ObjectInfo:
        """What is known of an object; `content` is its file, if it is open already."""
        if name.is_directory:
            return self._marker_info(name)
        if content is None:
            with self.open(name) as opened:
                return await self.info(name, opened)
        status = os.fstat(content.fileno())
        identity = _identity(status)
        known = self._remembered.get(name.parts)
        if known is None or known.identity != identity:
            known = _Remembered(identity, await _md5(content), Attributes())
            self._remembered[name.parts] = known
        return ObjectInfo(status.st_size, known.etag, _time(status.st_mtime), known.attributes)

    @asynccontextmanager
    async def staged(self, body: Body | AsyncIterator[bytes]) -> AsyncIterator[Staged]:
        """Write a body to a file of its own; what is not published or kept is deleted after it."""
        parts = body.parts() if isinstance(body, Body) else body
        if isinstance(body, Body):
            self.quota.check(body.declared_size or 0)
        md5, size = hashlib.md5(usedforsecurity=False), 0
        path, file = self._new_file()
        try:
            with file:
                async for part in parts:
                    self.quota.take_bytes(len(part))
                    size += len(part)
                    md5.update(part)
                    file.write(part)
            yield Staged(path, size, md5.hexdigest())
        finally:
            self._drop(path, size)

    def publish(
        self, staged: Staged, name: ObjectName, attributes: Attributes, *, only_new: bool = False
    ) -> None:
        """Make a staged file the object's content, at once."""
        identity = _identity(staged.path.stat())
        self.tree.publish(staged.path, name.parts, only_new=only_new)
        self._remembered[name.parts] = _Remembered(identity, staged.etag, attributes)

    def mark_directory(self, name: ObjectName) -> None:
        """Keep a directory as an object of no bytes."""
        self.tree.make_directory(name.parts)
        self._markers.add(name.parts)

    def remove(self, name: ObjectName) -> None:
        """Delete an object, and the directories that were there only for it."""
        if name.is_directory:
            self._markers.discard(name.parts)
            self.tree.remove_directory(name.parts)
        else:
            self._remembered.pop(name.parts, None)
            self.tree.remove(name.parts)
        above = name.parts[:-1]
        while len(above) > 1 and above not in self._markers and self.tree.remove_directory(above):
            above = above[:-1]

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """The sorted keys of a bucket that begin with a prefix.

        A directory is a key that ends in `/` where a client made it so, or where it is empty.
        """
        place = (bucket, *prefix.split("/")[:-1])
        if any(name in ("", ".", "..") or "\0" in name for name in place):
            return []
        above = "".join(f"{name}/" for name in place[1:])
        found = list(self.tree.walk(place))
        occupied = {each.name.rpartition("/")[0] for each in found}
        names = [
            f"{each.name}/" if each.is_directory else each.name
            for each in found
            if not each.is_directory
            or each.name not in occupied
            or (*place, *each.name.split("/")) in self._markers
        ]
        if place in self._markers or (above and not found and self.tree.has_directory(place)):
            names.append("")
        return sorted(above + name for name in names if (above + name).startswith(prefix))

    def _new_file(self) -> tuple[Path, BinaryIO]:
        path = self._staging / f"body-{secrets.token_hex(16)}"
        return path, path.open("xb")

    def _drop(self, path: Path, size: int) -> None:
        """Delete a staged file, unless it was moved to a place that counts its bytes."""
        try:
            path.unlink()
        except FileNotFoundError:
            return
        self.quota.give(size=size)

    def _marker_info(self, name: ObjectName) -> ObjectInfo:
        if name.key not in self.keys(name.parts[0], name.key):
            raise _no_such_key(name)
        modified = self.tree.directory_time(name.parts)
        attributes = Attributes({"content-type": "application/x-directory"})
        return ObjectInfo(0, EMPTY_MD5, _time(modified), attributes)


async def blocks(content: BinaryIO, count: int | None = None) -> AsyncIterator[bytes]:
    """A file's content from where it stands, so many bytes or all; lets others run in between."""
    while count is None or count > 0:
        block = content.read(_BLOCK_BYTES if count is None else min(count, _BLOCK_BYTES))
        if not block:
            return
        if count is not None:
            count -= len(block)
        yield block
        await asyncio.sleep(0)


async def _md5(content: BinaryIO) -> str:
    md5 = hashlib.md5(usedforsecurity=False)
    async for block in blocks(content):
        md5.update(block)
    content.seek(0)
    return md5.hexdigest()


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _no_such_key(name: ObjectName) -> FaultError:
    return FaultError("NoSuchKey", f"there is no object {name.key!r}")


# --- Uploads in parts, which wait in the staging directory until they are put together

MAX_PART_NUMBER = 10_000
_MAX_UPLOADS = 1_000


@dataclass(slots=True)
class Upload:
    """One upload that is under way, with its parts by number."""

    name: ObjectName
    attributes: Attributes
    parts: dict[int, Staged] = field(default_factory=dict)


class Uploads:
    """The uploads of a store; each part counts as a file until it is put together."""

    def __init__(self, objects: Objects, staging: Path) -> None:
        self._objects = objects
        self._staging = staging
        self._uploads: dict[str, Upload] = {}

    def create(self, name: ObjectName, attributes: Attributes) -> str:
        """Begin an upload and give its id."""
        if len(self._uploads) >= _MAX_UPLOADS:
            raise FaultError("QuotaExceeded", f"{_MAX_UPLOADS} uploads are under way already")
        upload_id = secrets.token_hex(16)
        self._uploads[upload_id] = Upload(name, attributes)
        return upload_id

    async def add(self, upload_id: str, name: ObjectName, number: int, body: Body) -> str:
        """Take a part, in place of one that had its number; gives its ETag."""
        self._find(upload_id, name)
        async with self._objects.staged(body) as staged:
            # While the body came, the upload may have been completed or aborted.
            upload = self._find(upload_id, name)
            self._objects.quota.take_file()
            kept = Staged(staged.path.rename(self._part_path()), staged.size, staged.etag)
            replaced = upload.parts.pop(number, None)
            upload.parts[number] = kept
        if replaced is not None:
            self._drop(replaced)
        return kept.etag

    def complete(
        self,
        upload_id: str,
        name: ObjectName,
        wanted: Sequence[tuple[int, str]],
        *,
        only_new: bool = False,
    ) -> str:
        """Publish the parts, one behind the other; gives the ETag of the whole."""
        upload = self._find(upload_id, name)
        parts = _ordered(upload, wanted)
        etag = _joined_etag(parts)
        size = sum(part.size for part in parts)
        path = self._part_path()
        with ExitStack() as undo:
            undo.callback(path.unlink, missing_ok=True)
            _concatenate(parts, path)
            self._objects.publish(
                Staged(path, size, etag), name, upload.attributes, only_new=only_new
            )
        # The bytes are counted already, as those of the parts.
        self.abort(upload_id, name)
        self._objects.quota.take_bytes(size)
        return etag

    def abort(self, upload_id: str, name: ObjectName) -> None:
        """Forget an upload and its parts."""
        self._find(upload_id, name)
        for part in self._uploads.pop(upload_id).parts.values():
            self._drop(part)

    def _find(self, upload_id: str, name: ObjectName) -> Upload:
        upload = self._uploads.get(upload_id)
        if upload is None or upload.name != name:
            raise FaultError("NoSuchUpload", "there is no such upload of this object")
        return upload

    def _drop(self, part: Staged) -> None:
        part.path.unlink(missing_ok=True)
        self._objects.quota.give(size=part.size, files=1)

    def _part_path(self) -> Path:
        return self._staging / f"part-{secrets.token_hex(16)}"


def _ordered(upload: Upload, wanted: Sequence[tuple[int, str]]) -> list[Staged]:
    numbers = [number for number, _ in wanted]
    if not numbers:
        raise FaultError("MalformedXML", "the upload is completed with no part")
    if sorted(set(numbers)) != numbers:
        raise FaultError("InvalidPartOrder", "the parts are not in the order of their numbers")
    for number, etag in wanted:
        part = upload.parts.get(number)
        if part is None or part.etag != etag.strip('"'):
            raise FaultError("InvalidPart", f"part {number} was not uploaded, or is another one")
    return [upload.parts[number] for number in numbers]


def _joined_etag(parts: Sequence[Staged]) -> str:
    """S3's ETag of a multipart object: the MD5 of the parts' MD5s, and how many there are."""
    digests = b"".join(bytes.fromhex(part.etag) for part in parts)
    return f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _concatenate(parts: Sequence[Staged], path: Path) -> None:
    with path.open("xb") as whole:
        for part in parts:
            with part.path.open("rb") as content:
                shutil.copyfileobj(content, whole, 1_024 * 1_024)
