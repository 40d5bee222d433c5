"""The objects of a store: files of the tree with their S3 metadata, and multipart uploads."""

import asyncio
import io
import os
import secrets
import shutil
import stat
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from nexus_tools.bridges.unstract.object_store.file_tree import (
    ObjectName,
    Place,
    Tree,
    check_bucket_name,
    is_file_name,
)
from nexus_tools.bridges.unstract.object_store.xml_documents import S3Error

DEFAULT_HEADERS = {"content-type": "binary/octet-stream"}

_BLOCK_BYTES = 256 * 1_024


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """The result of HeadObject. `etag` includes the quotes. `headers` were stored on upload."""

    size: int
    etag: str
    modified: datetime
    headers: Mapping[str, str]


class Objects:
    """The objects of a store. `staging` is a private directory beside the buckets."""

    def __init__(self, tree: Tree, staging: Path) -> None:
        self.tree = tree
        self._staging = staging
        # The ETag and headers of each file that a client wrote. The headers are valid only while
        # the ETag matches the file.
        self._headers: dict[Place, tuple[str, Mapping[str, str]]] = {}

    def check_bucket(self, bucket: str) -> None:
        """Raise `NoSuchBucket` unless the bucket exists."""
        if not self.tree.directory((check_bucket_name(bucket),)):
            raise S3Error("NoSuchBucket", f"the bucket {bucket} does not exist")

    def open(self, name: ObjectName) -> tuple[ObjectInfo, BinaryIO]:
        """Return an object and its content, or raise `NoSuchKey`. A directory has no content."""
        if not name.is_directory:
            with suppress(FileNotFoundError):
                content = self.tree.open(name.parts)
                return self._info(name.parts, os.fstat(content.fileno())), content
        elif status := self.tree.directory(name.parts):
            return self._info(name.parts, status), io.BytesIO()
        raise S3Error("NoSuchKey", f"the object {'/'.join(name.parts[1:])!r} does not exist")

    def list(self, bucket: str, prefix: str) -> dict[str, ObjectInfo]:
        """Return a bucket's objects with a key prefix. Keys of empty directories end in `/`."""
        above = prefix[: prefix.rfind("/") + 1]
        place = (bucket, *above.split("/")[:-1])
        if not all(map(is_file_name, place)):
            return {}
        entries = ((above + name, status) for name, status in self.tree.walk(place))
        return {
            key: self._info((bucket, *key.split("/")), status)
            for key, status in entries
            if key and key.startswith(prefix)
        }

    @asynccontextmanager
    async def staged(self, body: AsyncIterator[bytes]) -> AsyncIterator[Path]:
        """Write a body to a temporary file, which is deleted in the end unless it was moved."""
        path = self._staging / secrets.token_hex(16)
        self.tree.quota.take(files=1)
        try:
            with path.open("xb") as file:
                async for part in body:
                    self.tree.quota.take(size=len(part))
                    file.write(part)
            yield path
        finally:
            self.drop(path)

    def publish(
        self,
        staged: Path,
        name: ObjectName,
        headers: Mapping[str, str],
        *,
        only_new: bool = False,
    ) -> ObjectInfo:
        """Move a staged file to its object atomically.

        For a key that ends in `/`, the file must be empty, and a directory is created.
        """
        status = staged.stat()
        if not name.is_directory:
            self.tree.publish(staged, name.parts, only_new=only_new)
            self._headers[name.parts] = (etag(status), headers)
        elif status.st_size:
            message = "a key that ends in '/' is a directory, which cannot have content"
            raise S3Error("InvalidArgument", message)
        else:
            self.tree.make_directory(name.parts)
        return self._info(name.parts, status)

    def remove(self, name: ObjectName) -> None:
        """Delete an object and the directories that become empty."""
        if name.is_directory:
            self.tree.prune(name.parts)
        else:
            self._headers.pop(name.parts, None)
            self.tree.remove(name.parts)

    def drop(self, staged: Path) -> None:
        """Delete a staged file, unless it was moved to its object."""
        with suppress(FileNotFoundError):
            size = staged.stat().st_size
            staged.unlink()
            self.tree.quota.give(size=size, files=1)

    def _info(self, place: Place, status: os.stat_result) -> ObjectInfo:
        tag = etag(status)
        written_tag, headers = self._headers.get(place, ("", {}))
        return ObjectInfo(
            size=status.st_size if stat.S_ISREG(status.st_mode) else 0,
            etag=tag,
            modified=datetime.fromtimestamp(status.st_mtime, UTC),
            headers=headers if tag == written_tag else DEFAULT_HEADERS,
        )


def etag(status: os.stat_result) -> str:
    """Return an ETag of this version of a file, which changes when the file changes.

    S3 guarantees only that the ETag changes when the object changes. The ETag differs in length
    from an MD5 hash, so that clients do not mistake the ETag for a hash.
    """
    return f'"{status.st_mtime_ns:016x}{status.st_ino:016x}{status.st_size:012x}"'


async def blocks(content: BinaryIO, count: int) -> AsyncIterator[bytes]:
    """Yield `count` bytes from the current position of a file, in blocks.

    Other tasks of the event loop run between two blocks.
    """
    while count > 0 and (block := content.read(min(count, _BLOCK_BYTES))):
        count -= len(block)
        yield block
        await asyncio.sleep(0)


# --- Multipart uploads, whose parts are in the staging directory until they are joined

_MAX_UPLOADS = 1_000


@dataclass(slots=True)
class Upload:
    """A multipart upload in progress, with the files of its parts by number."""

    name: ObjectName
    headers: Mapping[str, str]
    parts: dict[int, Path] = field(default_factory=dict)


class Uploads:
    """The multipart uploads of a store. Each part counts as a file until the parts are joined."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._uploads: dict[str, Upload] = {}

    def create(self, name: ObjectName, headers: Mapping[str, str]) -> str:
        """Start an upload and return its ID."""
        if len(self._uploads) >= _MAX_UPLOADS:
            raise S3Error("QuotaExceeded", f"{_MAX_UPLOADS} uploads are already in progress")
        upload_id = secrets.token_hex(16)
        self._uploads[upload_id] = Upload(name, headers)
        return upload_id

    async def add(
        self, upload_id: str, name: ObjectName, number: int, body: AsyncIterator[bytes]
    ) -> str:
        """Store a part and return its ETag. A part with the same number is replaced."""
        self._find(upload_id, name)
        async with self._objects.staged(body) as staged:
            # The upload may have been completed or aborted while the body was received.
            parts = self._find(upload_id, name).parts
            if number in parts:
                self._objects.drop(parts[number])
            parts[number] = staged.rename(staged.with_suffix(".part"))
        return etag(parts[number].stat())

    def complete(
        self,
        upload_id: str,
        name: ObjectName,
        wanted: Sequence[tuple[int, str]],
        *,
        only_new: bool = False,
    ) -> ObjectInfo:
        """Join the parts and publish the object. The upload ends even if this fails."""
        upload = self._find(upload_id, name)
        parts = _ordered(upload, wanted)
        try:
            joined = self._join(parts)
            return self._objects.publish(joined, name, upload.headers, only_new=only_new)
        finally:
            self.abort(upload_id)

    def abort(self, upload_id: str) -> None:
        """Delete an upload and its parts, if it exists."""
        upload = self._uploads.pop(upload_id, None)
        for part in upload.parts.values() if upload else ():
            self._objects.drop(part)

    def _find(self, upload_id: str, name: ObjectName) -> Upload:
        upload = self._uploads.get(upload_id)
        if upload is None or upload.name != name:
            raise S3Error("NoSuchUpload", "this object has no upload with this ID")
        return upload

    def _join(self, parts: Sequence[Path]) -> Path:
        """Append all parts to the first one, so that no bytes are stored twice."""
        first, *others = parts
        with first.open("ab") as first_file:
            for part in others:
                with part.open("rb") as content:
                    shutil.copyfileobj(content, first_file, _BLOCK_BYTES)
                part.unlink()
                self._objects.tree.quota.give(files=1)
        return first


def _ordered(upload: Upload, requested_parts: Sequence[tuple[int, str]]) -> list[Path]:
    numbers = [number for number, _ in requested_parts]
    if not numbers:
        raise S3Error("MalformedXML", "the request to complete the upload lists no part")
    if sorted(set(numbers)) != numbers:
        raise S3Error("InvalidPartOrder", "the parts must be in the order of their numbers")
    for number, tag in requested_parts:
        part = upload.parts.get(number)
        if part is None or etag(part.stat()).strip('"') != tag.strip('"'):
            raise S3Error("InvalidPart", f"part {number} was not uploaded, or has a different ETag")
    return [upload.parts[number] for number in numbers]
