"""The manifest of a snapshot, which its publisher offers beside the file."""

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.index.index_file import IndexIdentity
from nexus_tools.index.schema import FORMAT
from nexus_tools.sui.types.address import Address

MANIFEST_FILE = "snapshot.json"
MAX_MANIFEST_BYTES = 10_000
SNAPSHOT_FORMAT = 1
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class SnapshotManifest(Struct, frozen=True):
    """The description of a snapshot.

    `file` is the name of the compressed file in the folder of the manifest, with its size in
    `file_bytes` and its digest. The uncompressed file has `index_bytes`. The snapshot contains all
    events from the checkpoint `complete_since` to `checkpoint`. `workflows` is the
    package of workflows, or null.
    """

    format: int
    index_format: int
    chain_id: str
    package: Address
    workflows: Address | None
    checkpoint: int
    complete_since: int
    file: str
    file_bytes: int
    sha256: str
    index_bytes: int

    def encode(self) -> bytes:
        """Return the manifest as JSON."""
        document = msgspec.json.encode(self, enc_hook=str)
        return msgspec.json.format(document) + b"\n"

    def check(self, identity: IndexIdentity, max_bytes: int) -> None:
        """Check that the snapshot belongs to an index, and is not too large.

        Raises:
            ValidationError: `index_format_unsupported`, `index_identity_mismatch` or
                `snapshot_too_large`.
        """
        if (self.format, self.index_format) != (SNAPSHOT_FORMAT, FORMAT):
            raise ValidationError(
                "index_format_unsupported",
                f"expected a snapshot of format {SNAPSHOT_FORMAT}.{FORMAT}, got"
                f" {self.format}.{self.index_format}",
                hint="Use the release of nexus-tools that created the snapshot, or run"
                " `nexus-tools index run` to read all events.",
            )
        packages = (self.package, self.workflows)
        if self.chain_id != identity.chain_id or packages != (identity.package, identity.workflows):
            raise ValidationError(
                "index_identity_mismatch",
                f"the snapshot belongs to another network or package: chain {self.chain_id[:80]},"
                f" package {self.package}",
                hint="Pass --network to select its network, or use another snapshot.",
            )
        size = max(self.file_bytes, self.index_bytes)
        if size > max_bytes:
            raise ValidationError(
                "snapshot_too_large",
                f"the snapshot has {size} bytes, but at most {max_bytes} bytes are allowed",
                hint="Pass --max-size to allow a larger snapshot.",
            )


def parse_manifest(data: bytes) -> SnapshotManifest:
    """Parse an untrusted manifest. Raises `snapshot_invalid`."""
    try:
        manifest = msgspec.json.decode(data, type=SnapshotManifest, dec_hook=_address)
    except (msgspec.DecodeError, NexusError) as error:
        raise snapshot_invalid(f"its manifest is invalid: {error}") from error
    numbers = (manifest.file_bytes, manifest.index_bytes, manifest.complete_since)
    if min(numbers) < 0 or manifest.checkpoint < manifest.complete_since - 1:
        raise snapshot_invalid("its manifest contains a negative size or checkpoint")
    if not _FILE_NAME.fullmatch(manifest.file) or not _DIGEST.fullmatch(manifest.sha256):
        raise snapshot_invalid("its manifest contains an invalid file name or digest")
    return manifest


def read_manifest(folder: Path) -> SnapshotManifest:
    """Return the manifest in a folder. Raises `snapshot_missing` or `snapshot_invalid`."""
    try:
        data = (folder / MANIFEST_FILE).read_bytes()
    except OSError as error:
        raise NotFoundError(
            "snapshot_missing",
            f"cannot read a snapshot in {folder}: {error}",
            hint="Run `nexus-tools index snapshot FOLDER` to create it.",
        ) from error
    return parse_manifest(data)


def snapshot_invalid(problem: str) -> ValidationError:
    """Return the error for a snapshot that is damaged."""
    return ValidationError(
        "snapshot_invalid",
        f"the snapshot cannot be used: {problem}",
        hint="Use another snapshot, or run `nexus-tools index run` to read all events.",
    )


def _address(kind: type, value: Any) -> Any:
    assert kind is Address
    return Address.parse_whole(value)
