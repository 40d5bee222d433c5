"""The creation of a snapshot in a folder, from which any HTTP server can offer it."""

import gzip
import hashlib
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.index.index_file import (
    DAMAGE,
    IndexIdentity,
    delete_file,
    invalid_error,
    open_reader,
)
from nexus_tools.index.schema import FORMAT
from nexus_tools.index.snapshots.manifest import (
    MANIFEST_FILE,
    SNAPSHOT_FORMAT,
    SnapshotManifest,
    read_manifest,
)
from nexus_tools.sui.client import Cursor

SNAPSHOT_TABLES = (
    *("events", "unknown_events", "requests", "closings", "deletions"),
    "addresses",
)
"""The tables of a snapshot. All others are derived from them, or read from the chain."""

CHUNK_BYTES = 1 << 20
_LEVEL = 6


def create_snapshot(path: Path, identity: IndexIdentity, folder: Path) -> SnapshotManifest:
    """Create a snapshot of an index, which may be open for writing, and return its manifest.

    The manifest appears when the file is complete. The previous snapshot in the folder is deleted.
    Raises the errors of `open_reader`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain, packed = folder / ".snapshot.sqlite", folder / ".snapshot.gz"
    delete_file(plain)
    try:
        complete_since, checkpoint = _copy_rows(path, identity, plain)
        digest = _compress(plain, packed)
        file = f"index-{path.stem}-{checkpoint}-{digest[:8]}.sqlite.gz"
        manifest = SnapshotManifest(
            format=SNAPSHOT_FORMAT,
            index_format=FORMAT,
            chain_id=identity.chain_id,
            package=identity.package,
            workflows=identity.workflows,
            checkpoint=checkpoint,
            complete_since=complete_since,
            file=file,
            file_bytes=packed.stat().st_size,
            sha256=digest,
            index_bytes=plain.stat().st_size,
        )
        previous = _previous_file(folder)
        packed.replace(folder / file)
    finally:
        delete_file(plain)
        packed.unlink(missing_ok=True)
    temporary = folder / f".{MANIFEST_FILE}"
    temporary.write_bytes(manifest.encode())
    temporary.replace(folder / MANIFEST_FILE)
    if previous not in (None, file):
        with suppress(OSError):
            (folder / str(previous)).unlink()
    return manifest


def _copy_rows(path: Path, identity: IndexIdentity, plain: Path) -> tuple[int, int]:
    """Copy one state of the rows. Return since and up to which checkpoint they are complete."""
    open_reader(path, identity).close()  # check the file
    try:
        with closing(sqlite3.connect(plain, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS source", (f"{path.absolute().as_uri()}?mode=ro",))
            connection.execute("BEGIN")
            since, value = connection.execute(
                "SELECT complete_since, value FROM source.identity, source.cursor"
            ).fetchone()
            checkpoint = _complete_checkpoint(Cursor.parse(value))
            for table in SNAPSHOT_TABLES:
                connection.execute(
                    f"CREATE TABLE {table} AS SELECT * FROM source.{table} WHERE checkpoint <= ?",  # noqa: S608 - constant names
                    (checkpoint,),
                )
            connection.execute("COMMIT")
    except DAMAGE as error:
        raise invalid_error(path, error) from error
    return since, checkpoint


def _complete_checkpoint(cursor: Cursor) -> int:
    """Return the last checkpoint of which all events are before a cursor."""
    is_complete = cursor.position >= Cursor.after_checkpoint(cursor.checkpoint).position
    return cursor.checkpoint if is_complete else cursor.checkpoint - 1


def _compress(plain: Path, packed: Path) -> str:
    """Compress a file, and return the digest of the result."""
    with (
        plain.open("rb") as source,
        packed.open("wb") as target,
        gzip.GzipFile("", "wb", _LEVEL, target, mtime=0) as file,
    ):
        while chunk := source.read(CHUNK_BYTES):
            file.write(chunk)
        file.close()
        target.flush()
        os.fsync(target.fileno())
    with packed.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _previous_file(folder: Path) -> str | None:
    with suppress(NotFoundError, ValidationError):
        return read_manifest(folder).file
    return None
