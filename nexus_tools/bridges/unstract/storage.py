"""The storage of a run: a folder, a bucket of the bridge's object store, or both at once.

Old SDKs and programs without an SDK read the folder in TOOL_DATA_DIR. Newer SDKs treat
EXECUTION_DATA_DIR as a path in an object store, and refuse to work without one.
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
    """The storage of one run below `root`.

    `credentials` and `port` are those of the run's object store.
    """

    root: Path
    mode: StorageMode
    credentials: str = field(default="", repr=False)
    port: int | None = None

    @property
    def bucket(self) -> Path:
        """The folder with the objects of the bucket."""
        return self.root / BUCKET

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.bucket / _RUN

    @property
    def has_bucket(self) -> bool:
        """Whether the tool accesses its data through S3."""
        return self.mode != "local"

    def variables(self, data_path: str) -> dict[str, str]:
        """Return the variables that tell the tool its data directory, located at `data_path`."""
        if not self.has_bucket:
            return {"TOOL_DATA_DIR": data_path, "EXECUTION_DATA_DIR": data_path}
        folder = {"TOOL_DATA_DIR": data_path} if self.mode == "auto" else {}
        return folder | {
            "EXECUTION_DATA_DIR": f"{BUCKET}/{_RUN}",
            "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS": self.credentials,
            # Do not request credentials from a cloud metadata service, which does not exist here.
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@asynccontextmanager
async def open_storage(
    root: Path, mode: StorageMode, limits: ProcessLimits
) -> AsyncIterator[Storage]:
    """Provide the storage of one run in a new folder. The object store runs inside the context."""
    (root / BUCKET).mkdir(parents=True)
    if mode == "local":
        yield Storage(root, mode)
        return
    # This late import loads a web server, which local storage does not need.
    from nexus_tools.bridges.unstract.object_store import object_store  # noqa: PLC0415

    async with object_store(root, max_bytes=limits.disk_bytes, max_files=limits.files) as store:
        credentials = {
            "endpoint_url": store.endpoint_url,
            "key": store.access_key,
            # Clients sign requests with this secret, but the server checks only the access key.
            "secret": store.access_key,
        }
        provider = json.dumps({"provider": "minio", "credentials": credentials})
        yield Storage(root, mode, provider, urlsplit(store.endpoint_url).port)


_NO_FILE = InputFile("none", b"")


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The data directory at `path` of one run. `metadata` is the content of METADATA.json."""

    path: Path
    metadata: Mapping[str, Any]

    @classmethod
    def create(
        cls, path: Path, file: InputFile | None, metadata: Mapping[str, Any]
    ) -> "DataDirectory":
        """Create the layout. Without a file, the layout has neither INFILE nor SOURCE.

        If `metadata` lacks IDs, they are generated, because tools expect them.
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
        """Return the files that the tool wrote to the output folder."""
        return read_output_files(self.path / "COPY_TO_FOLDER")


def _metadata(file: InputFile, metadata: Mapping[str, Any]) -> dict[str, Any]:
    generated = {
        name: str(uuid4()) for name in ("workflow_id", "execution_id", "file_execution_id")
    }
    source_hash = hashlib.sha256(file.content).hexdigest()
    file_fields = {"source_name": file.name, "source_hash": source_hash}
    return {"organization_id": "", "tags": [], **generated, **metadata, **file_fields}


# --- The output files of a tool

MAX_FILES = 200
MAX_BYTES = 4 * 2**20
"""The limit for all files together, because a response contains them, mostly as base64."""

_MAX_FOLDERS = 1_000


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file with its path relative to the output folder, with `/` between folders."""

    path: str
    content: bytes

    def as_json(self) -> dict[str, str]:
        """Return `{path, text}` for UTF-8 without NUL, else `{path, content_base64}`."""
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return {"path": self.path, "content_base64": base64.b64encode(self.content).decode()}
        return {"path": self.path, "text": text}


def read_output_files(folder: Path) -> list[OutputFile]:
    """Return every regular file below a folder, sorted by path. Links are omitted.

    Raises:
        ValidationError: with code `output_files_too_large` for more than `MAX_FILES` files or
            `MAX_BYTES` bytes. With code `output_file_unreadable` for a file that cannot be read, or
            whose name is not UTF-8.
    """
    if folder.is_symlink():
        return []
    files: list[OutputFile] = []
    remaining_bytes = MAX_BYTES
    for path in _plain_files(folder):
        if len(files) == MAX_FILES:
            raise _too_large(f"the output has more than {MAX_FILES} files")
        content = _content(path, remaining_bytes)
        if len(content) > remaining_bytes:
            raise _too_large(f"the output files have more than {MAX_BYTES} bytes in total")
        remaining_bytes -= len(content)
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
    raise _too_large(f"the output has more than {_MAX_FOLDERS} folders")


def _content(path: Path, at_most: int) -> bytes:
    """Return at most `at_most` + 1 bytes of a file. Do not follow links."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        message = f"cannot read an output file: {error.strerror}"
        raise ValidationError("output_file_unreadable", message) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return b""
        return file.read(at_most + 1)


def _relative(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"the name of an output file is not UTF-8: {name!r}"
        raise ValidationError("output_file_unreadable", message) from error
    return name


def _too_large(problem: str) -> ValidationError:
    return ValidationError("output_files_too_large", problem)
