"""The installation of a published snapshot as the local index."""

import asyncio
import shutil
from pathlib import Path
from random import Random

from msgspec import Struct

from nexus_tools.contracts import Deployment
from nexus_tools.errors import WrongStateError
from nexus_tools.index.event_filters import read_event_filter
from nexus_tools.index.index_file import (
    WritableIndex,
    create_copy,
    delete_file,
    replace_contents,
)
from nexus_tools.index.snapshots.contents import SnapshotRows
from nexus_tools.index.snapshots.download import (
    Report,
    decompress,
    download_file,
    download_manifest,
)
from nexus_tools.index.snapshots.manifest import SnapshotManifest, snapshot_invalid
from nexus_tools.index.snapshots.verification import SnapshotVerifier, Verification
from nexus_tools.index.writer import IndexWriter
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.support.logs import error_summary

DEFAULT_MAX_BYTES = 20_000_000_000
# The compressed file, the file, the new index, and the log from which it replaces the old index.
_COPIES = 4


class Installed(Struct, frozen=True):
    """An installed snapshot with its number of rows, and the result of the comparison."""

    manifest: SnapshotManifest
    rows: int
    verification: Verification


async def install_snapshot(
    client: SuiClient,
    deployment: Deployment,
    index: WritableIndex,
    url: str,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    allows_unverified: bool = False,
    report: Report = lambda _done, _total: None,
    numbers: Random | None = None,
) -> Installed:
    """Download a snapshot, compare it with the node, and replace the contents of an index by it.

    Until then, the old contents remain. All tables that derive from events are derived again, so a
    publisher cannot change them. The texts of definitions are read from the chain later.
    `allows_unverified` also accepts rows that the node cannot check.

    Raises:
        UsageError: `url_invalid`.
        NotFoundError: `snapshot_missing`.
        UnreachableError: `snapshot_unreachable`.
        ValidationError: `index_format_unsupported`, `index_identity_mismatch`,
            `snapshot_too_large`, `snapshot_invalid` or `snapshot_mismatch`.
        WrongStateError: `index_newer`, `disk_full` or `snapshot_unverified`.
    """
    file_url, manifest = await download_manifest(url)
    manifest.check(index.identity, max_bytes)
    _check_newer(index, manifest)
    await _check_node(client, manifest)
    _check_disk(index.path, manifest)
    packed = index.path.with_name(f"{index.path.stem}.{manifest.sha256[:16]}.part")
    plain = index.path.with_name(f"{index.path.name}.snapshot")
    _delete_other_parts(packed, index.path)
    await download_file(file_url, manifest, packed, report)
    copy = create_copy(index, manifest.complete_since)
    try:
        await asyncio.to_thread(decompress, packed, plain, manifest.index_bytes)
        rows = SnapshotRows(copy, deployment, manifest)
        await asyncio.to_thread(rows.copy, plain)
        event_filter = await read_event_filter(client, deployment)
        verification = await SnapshotVerifier(client, event_filter, rows, numbers).run()
        if verification.unverified and not allows_unverified:
            raise _unverified(verification)
        rows.move_cursor(verification.marks)
        await asyncio.to_thread(_derive, copy, deployment)
        await asyncio.to_thread(replace_contents, index, copy)
    finally:
        copy.close()
        delete_file(copy.path)
        delete_file(plain)
        packed.unlink(missing_ok=True)
    return Installed(manifest, rows.count, verification)


def _derive(copy: WritableIndex, deployment: Deployment) -> None:
    """Derive the other tables. Rows that were not compared with the node may be invalid."""
    try:
        IndexWriter(copy, deployment).derive()
    except Exception as error:
        cause = error_summary(error)
        raise snapshot_invalid(f"its rows are invalid: {cause}") from error


def _delete_other_parts(packed: Path, index: Path) -> None:
    """Delete downloads of other snapshots that were never completed."""
    for path in packed.parent.glob(f"{index.stem}.*.part"):
        if path != packed:
            path.unlink(missing_ok=True)


def _check_newer(index: WritableIndex, manifest: SnapshotManifest) -> None:
    since, checkpoint = index.connection.execute(
        "SELECT complete_since, checkpoint FROM identity, cursor"
    ).fetchone()
    if checkpoint >= manifest.checkpoint and since <= manifest.complete_since:
        position = f"the local index is already at checkpoint {checkpoint}"
        is_same = checkpoint == manifest.checkpoint
        raise WrongStateError(
            "index_newer",
            f"{position} of the snapshot"
            if is_same
            else f"{position}, but the snapshot is at {manifest.checkpoint}",
            hint="Run `nexus-tools index run` to continue with the local index.",
        )


async def _check_node(client: SuiClient, manifest: SnapshotManifest) -> None:
    newest = await client.latest_checkpoint()
    if newest < manifest.checkpoint:
        raise WrongStateError(
            "snapshot_unverified",
            f"the snapshot is at checkpoint {manifest.checkpoint}, but the node at {newest}",
            hint="Try again when the node is up to date, or use another snapshot.",
        )


def _check_disk(path: Path, manifest: SnapshotManifest) -> None:
    needed = manifest.file_bytes + _COPIES * manifest.index_bytes
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise WrongStateError(
            "disk_full",
            f"the snapshot needs up to {needed} bytes in {path.parent}, but only {free} are free",
            hint="Free some space, or set XDG_DATA_HOME to a folder on another disk.",
        )


def _unverified(verification: Verification) -> WrongStateError:
    return WrongStateError(
        "snapshot_unverified",
        f"{verification.unverified} samples of the snapshot cannot be checked, because"
        f" {verification.problem}",
        hint="Use a node with a longer history, or pass --allow-unverified to trust the publisher.",
    )
