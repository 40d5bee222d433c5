"""The objects of a store: files of the tree, with what S3 says about each; and uploads in parts."""

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
    bucket_name,
    is_file_name,
)
from nexus_tools.bridges.unstract.object_store.xml_documents import FaultError

DEFAULT_HEADERS = {"content-type": "binary/octet-stream"}

_BLOCK_BYTES = 256 * 1_024


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What HeadObject tells; `etag` has its quotes, `headers` are those it was written with."""

    size: int
    etag: str
    modified: datetime
    headers: Mapping[str, str]


class Objects:
    """Reads and writes objects; `staging` is a directory of the store's own beside the buckets."""

    def __init__(self, tree: Tree, staging: Path) -> None:
        self.tree = tree
        self._staging = staging
        # Of each file that a client wrote, as long as it is the same file.
        self._headers: dict[Place, tuple[str, Mapping[str, str]]] = {}

    def check_bucket(self, bucket: str) -> None:
        """Raise `NoSuchBucket` unless there is the bucket."""
        if not self.tree.directory((bucket_name(bucket),)):
            raise FaultError("NoSuchBucket", f"there is no bucket {bucket}")

    def open(self, name: ObjectName) -> tuple[ObjectInfo, BinaryIO]:
        """An object and its content, which is empty for a directory; `NoSuchKey` if not there."""
        if not name.is_directory:
            with suppress(FileNotFoundError):
                content = self.tree.open(name.parts)
                return self._info(name.parts, os.fstat(content.fileno())), content
        elif status := self.tree.directory(name.parts):
            return self._info(name.parts, status), io.BytesIO()
        raise FaultError("NoSuchKey", f"there is no object {'/'.join(name.parts[1:])!r}")

    def list(self, bucket: str, prefix: str) -> dict[str, ObjectInfo]:
        """The objects of a bucket whose keys begin with a prefix; empty directories end in `/`."""
        above = prefix[: prefix.rfind("/") + 1]
        place = (bucket, *above.split("/")[:-1])
        if not all(map(is_file_name, place)):
            return {}
        found = ((above + name, status) for name, status in self.tree.walk(place))
        return {
            key: self._info((bucket, *key.split("/")), status)
            for key, status in found
            if key and key.startswith(prefix)
        }

    @asynccontextmanager
    async def staged(self, body: AsyncIterator[bytes]) -> AsyncIterator[Path]:
        """Write a body to a file of its own, which is deleted in the end unless it was moved."""
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
        """Make a staged file the object's content, at once; a directory is made, and has none."""
        status = staged.stat()
        if not name.is_directory:
            self.tree.publish(staged, name.parts, only_new=only_new)
            self._headers[name.parts] = (etag(status), headers)
        elif status.st_size:
            message = "a key that ends in '/' is a directory here, and has no bytes"
            raise FaultError("InvalidArgument", message)
        else:
            self.tree.make_directory(name.parts)
        return self._info(name.parts, status)

    def remove(self, name: ObjectName) -> None:
        """Delete an object, and the directories that are empty then."""
        if name.is_directory:
            self.tree.prune(name.parts)
        else:
            self._headers.pop(name.parts, None)
            self.tree.remove(name.parts)

    def drop(self, staged: Path) -> None:
        """Delete a staged file, unless it was moved to a place that counts it."""
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
    """Names this version of a file: it is another one when the file is written or replaced.

    S3 promises no more. It has not the length of an MD5, so that no client takes it for one.
    """
    return f'"{status.st_mtime_ns:016x}{status.st_ino:016x}{status.st_size:012x}"'


async def blocks(content: BinaryIO, count: int) -> AsyncIterator[bytes]:
    """So many bytes of a file from where it stands; lets others run in between."""
    while count > 0 and (block := content.read(min(count, _BLOCK_BYTES))):
        count -= len(block)
        yield block
        await asyncio.sleep(0)


# --- Uploads in parts, which wait in the staging directory until they are put together

_MAX_UPLOADS = 1_000


@dataclass(slots=True)
class Upload:
    """One upload that is under way, with the files of its parts by number."""

    name: ObjectName
    headers: Mapping[str, str]
    parts: dict[int, Path] = field(default_factory=dict)


class Uploads:
    """The uploads of a store; each part counts as a file until it is put together."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._uploads: dict[str, Upload] = {}

    def create(self, name: ObjectName, headers: Mapping[str, str]) -> str:
        """Begin an upload and give its id."""
        if len(self._uploads) >= _MAX_UPLOADS:
            raise FaultError("QuotaExceeded", f"{_MAX_UPLOADS} uploads are under way already")
        upload_id = secrets.token_hex(16)
        self._uploads[upload_id] = Upload(name, headers)
        return upload_id

    async def add(
        self, upload_id: str, name: ObjectName, number: int, body: AsyncIterator[bytes]
    ) -> str:
        """Take a part, in place of one that had its number; gives its ETag."""
        self._find(upload_id, name)
        async with self._objects.staged(body) as staged:
            # While the body came, the upload may have been completed or aborted.
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
        """Publish the parts, one behind the other; that ends the upload, even if it fails."""
        upload = self._find(upload_id, name)
        parts = _ordered(upload, wanted)
        try:
            whole = self._join(parts)
            return self._objects.publish(whole, name, upload.headers, only_new=only_new)
        finally:
            self.abort(upload_id)

    def abort(self, upload_id: str) -> None:
        """Forget an upload, if there is one, and its parts."""
        upload = self._uploads.pop(upload_id, None)
        for part in upload.parts.values() if upload else ():
            self._objects.drop(part)

    def _find(self, upload_id: str, name: ObjectName) -> Upload:
        upload = self._uploads.get(upload_id)
        if upload is None or upload.name != name:
            raise FaultError("NoSuchUpload", "there is no such upload of this object")
        return upload

    def _join(self, parts: Sequence[Path]) -> Path:
        """Move the bytes of all parts into the first, so that they are never there twice."""
        first, *others = parts
        with first.open("ab") as whole:
            for part in others:
                with part.open("rb") as content:
                    shutil.copyfileobj(content, whole, _BLOCK_BYTES)
                part.unlink()
                self._objects.tree.quota.give(files=1)
        return first


def _ordered(upload: Upload, wanted: Sequence[tuple[int, str]]) -> list[Path]:
    numbers = [number for number, _ in wanted]
    if not numbers:
        raise FaultError("MalformedXML", "the upload is completed with no part")
    if sorted(set(numbers)) != numbers:
        raise FaultError("InvalidPartOrder", "the parts are not in the order of their numbers")
    for number, tag in wanted:
        part = upload.parts.get(number)
        if part is None or etag(part.stat()).strip('"') != tag.strip('"'):
            raise FaultError("InvalidPart", f"part {number} was not uploaded, or is another one")
    return [upload.parts[number] for number in numbers]
