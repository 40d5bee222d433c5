"""The data directory of a run: where the tool finds its file, and leaves what it makes.

    INFILE           the file; the tool overwrites it with its result
    SOURCE           the same file, to be left as it is
    METADATA.json    what the run is a part of
    COPY_TO_FOLDER/  where the tool puts files

As the tools of the platform's SDK expect it, on a disk or in an S3 bucket.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from nexus_tools.bridges.unstract.input_file import InputFile
from nexus_tools.bridges.unstract.output_files import OutputFile, read_output_files

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
