"""Where a run has its data directory: a folder, a bucket of an S3 of our own, or both at once.

Old SDKs and programs without any read the folder that TOOL_DATA_DIR names. Newer SDKs take
EXECUTION_DATA_DIR for a path in an object store, and refuse to work without one.
"""

import base64
import hashlib
import json
import os
import stat
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import uuid4

from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.unstract.input import InputFile
from nexus_tools.errors import ValidationError

StorageMode = Literal["auto", "local", "s3"]
STORAGE_MODES: tuple[StorageMode, ...] = ("auto", "local", "s3")

BUCKET = "execution-data"
_RUN = "run"


@dataclass(frozen=True, slots=True)
class Storage:
    """The storage of one run below `root`; `credentials` and `port` are its S3's, if it has one."""

    root: Path
    mode: StorageMode
    credentials: str = field(default="", repr=False)
    port: int | None = None

    @property
    def bucket(self) -> Path:
        """The folder that is the bucket."""
        return self.root / BUCKET

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.bucket / _RUN

    @property
    def has_bucket(self) -> bool:
        """Whether the tool reaches its data through S3."""
        return self.mode != "local"

    def variables(self, data_path: str) -> dict[str, str]:
        """The environment variables that lead to the data directory, seen at `data_path`."""
        if not self.has_bucket:
            return {"TOOL_DATA_DIR": data_path, "EXECUTION_DATA_DIR": data_path}
        folder = {"TOOL_DATA_DIR": data_path} if self.mode == "auto" else {}
        return folder | {
            "EXECUTION_DATA_DIR": f"{BUCKET}/{_RUN}",
            "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS": self.credentials,
            # There is no cloud around that could be asked for credentials.
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@asynccontextmanager
async def storage_in(
    root: Path, mode: StorageMode, limits: ProcessLimits
) -> AsyncIterator[Storage]:
    """The storage of one run in a fresh folder; its S3 lives as long as the context."""
    (root / BUCKET).mkdir(parents=True)
    if mode == "local":
        yield Storage(root, mode)
        return
    # Late: it brings a web server along, which the folder alone does not need.
    from nexus_tools.bridges.unstract.object_store import object_store  # noqa: PLC0415

    async with object_store(root, max_bytes=limits.disk_bytes, max_files=limits.files) as store:
        credentials = {
            "endpoint_url": store.endpoint_url,
            "key": store.access_key,
            # Clients sign with it; the key is what lets them in.
            "secret": store.access_key,
        }
        provider = json.dumps({"provider": "minio", "credentials": credentials})
        yield Storage(root, mode, provider, urlsplit(store.endpoint_url).port)


_NO_FILE = InputFile("none", b"")


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The directory at `path`, which is fresh for each run; `metadata` is its METADATA.json."""

    path: Path
    metadata: Mapping[str, Any]

    @classmethod
    def create(
        cls, path: Path, file: InputFile | None, metadata: Mapping[str, Any]
    ) -> "DataDirectory":
        """Lay it out; without a file it has neither INFILE nor SOURCE.

        Ids that `metadata` does not have are made up: tools take them for granted.
        """
        output = path / "COPY_TO_FOLDER"
        output.mkdir(parents=True)
        if file is not None:
            (path / "INFILE").write_bytes(file.content)
            source = path / "SOURCE"
            source.write_bytes(file.content)
            source.chmod(0o400)
        document = _metadata(file or _NO_FILE, metadata)
        (path / "METADATA.json").write_text(json.dumps(document), encoding="utf-8")
        return cls(path, document)

    def output_files(self) -> list["OutputFile"]:
        """The files that the tool has put into the output folder."""
        return read_output_files(self.path / "COPY_TO_FOLDER")


def _metadata(file: InputFile, given: Mapping[str, Any]) -> dict[str, Any]:
    made_up = {name: str(uuid4()) for name in ("workflow_id", "execution_id", "file_execution_id")}
    source_hash = hashlib.sha256(file.content).hexdigest()
    own = {"source_name": file.name, "source_hash": source_hash}
    return {"organization_id": "", "tags": [], **made_up, **given, **own}


# --- The files that a tool leaves behind

MAX_FILES = 200
MAX_BYTES = 4 * 2**20
"""Of all files together: they travel in a response, most of them as base64."""

_MAX_FOLDERS = 1_000


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file by its path relative to the output folder, with `/` between folders."""

    path: str
    content: bytes

    def as_json(self) -> dict[str, str]:
        """`{path, text}` where it is UTF-8 without NUL, else `{path, content_base64}`."""
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return {"path": self.path, "content_base64": base64.b64encode(self.content).decode()}
        return {"path": self.path, "text": text}


def read_output_files(folder: Path) -> list[OutputFile]:
    """Every file in a folder and below, by path; links and what is no plain file are left out.

    Raises `ValidationError` with code `files_too_large` for more than `MAX_FILES` files or
    `MAX_BYTES` bytes, and `file_unreadable` for a file that cannot be read, or has a name that is
    no UTF-8.
    """
    if folder.is_symlink():
        return []
    files: list[OutputFile] = []
    left = MAX_BYTES
    for path in _plain_files(folder):
        if len(files) == MAX_FILES:
            raise _too_large(f"it left more than {MAX_FILES} files")
        content = _content(path, left)
        if len(content) > left:
            raise _too_large(f"its files have more than {MAX_BYTES} bytes together")
        left -= len(content)
        files.append(OutputFile(_relative(path, folder), content))
    return sorted(files, key=lambda file: file.path)


def _plain_files(folder: Path) -> Iterator[Path]:
    pending = [folder]
    for _ in range(_MAX_FOLDERS + 1):
        if not pending:
            return
        current = pending.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
    raise _too_large(f"it left more than {_MAX_FOLDERS} folders")


def _content(path: Path, at_most: int) -> bytes:
    """The content, and one byte more than `at_most` if there is more; a link is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        message = f"a file that it left cannot be read: {error.strerror}"
        raise ValidationError("file_unreadable", message) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return b""
        return file.read(at_most + 1)


def _relative(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"a file that it left has a name that is no UTF-8: {name!r}"
        raise ValidationError("file_unreadable", message) from error
    return name


def _too_large(problem: str) -> ValidationError:
    return ValidationError("files_too_large", problem)
