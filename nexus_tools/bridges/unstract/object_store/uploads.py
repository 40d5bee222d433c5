"""Multipart uploads: parts that wait in the staging directory until they are put together."""

import hashlib
import secrets
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from nexus_tools.bridges.unstract.object_store.body import Body
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.names import ObjectName
from nexus_tools.bridges.unstract.object_store.objects import Attributes, Objects, Staged

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
