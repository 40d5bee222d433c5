"""Where a run has its data directory: a folder, a bucket of an S3 of our own, or both at once.

Old SDKs and programs without any read the folder that TOOL_DATA_DIR names. Newer SDKs take
EXECUTION_DATA_DIR for a path in an object store, and refuse to work without one.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.unstract.input import InputFile
from nexus_tools.bridges.unstract.output import OutputFile, read_output_files

StorageMode = Literal["auto", "local", "s3"]
STORAGE_MODES: tuple[StorageMode, ...] = ("auto", "local", "s3")

BUCKET = "execution-data"
_RUN = "run"


@dataclass(frozen=True, slots=True)
class Storage:
    """The storage of one run below `root`; `credentials` are those of its S3, if it has one."""

    root: Path
    mode: StorageMode
    credentials: str = field(default="", repr=False)

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
        yield Storage(root, mode, json.dumps({"provider": "minio", "credentials": credentials}))


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

    def output_files(self) -> list[OutputFile]:
        """The files that the tool has put into the output folder."""
        return read_output_files(self.path / "COPY_TO_FOLDER")


def _metadata(file: InputFile, given: Mapping[str, Any]) -> dict[str, Any]:
    made_up = {name: str(uuid4()) for name in ("workflow_id", "execution_id", "file_execution_id")}
    source_hash = hashlib.sha256(file.content).hexdigest()
    own = {"source_name": file.name, "source_hash": source_hash}
    return {"organization_id": "", "tags": [], **made_up, **given, **own}
