"""Index files: one SQLite file for each chain and original package ID.

Many processes read a file, and one process writes it. The writer holds a lock on a second file,
whose name ends in `.lock`. SQLite uses write-ahead logging, so readers see only whole batches.
"""

import fcntl
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NexusError, NotFoundError, ValidationError, WrongStateError
from nexus_tools.index.metadata import describe_file
from nexus_tools.index.schema import APPLICATION_ID, FORMAT, SCHEMA
from nexus_tools.settings.directories import data_directory
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address

_REBUILD = "Run `nexus-tools index rebuild`."
_WAIT_S = 5.0
# Events change pages all over a large file. For 300 000 tools and with the defaults of SQLite, 2 MB
# and 1 000 pages, the writer read 121 KB and wrote 297 KB for each event.
_CACHE_KIB = 65_536
_CHECKPOINT_PAGES = 16_384
# A reader that stays open makes the WAL file grow. Afterwards, the file shrinks to this size.
_MOST_WAL_BYTES = 2**28
_MAPPED_BYTES = 2**27

# Python cannot decode the message of SQLite about a name in a damaged schema.
DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""The errors that reading a damaged file may raise."""


class IndexIdentity(Struct, frozen=True):
    """The chain and the original package ID that an index belongs to.

    `workflows` is the original ID of the package of workflows, or None if it is not published. An
    index that was built without this package lacks its events, so the writer replaces the index.
    """

    chain_id: str
    package: Address
    workflows: Address | None = None

    @classmethod
    def of(cls, deployment: Deployment) -> "IndexIdentity":
        """Return the identity of a deployment's index."""
        return cls(deployment.chain_id, deployment.original_id, deployment.workflows_original_id)

    def path(self, folder: Path | None = None) -> Path:
        """Return the path of the index file, by default in the user's data directory."""
        name = f"{self.chain_id}-{self.package}.sqlite"
        return (folder or data_directory() / "index") / name


def open_reader(path: Path, identity: IndexIdentity) -> sqlite3.Connection:
    """Open an index for reading.

    Raises:
        NotFoundError: `index_missing`.
        ValidationError: `index_invalid`, `index_format_unsupported` or `index_identity_mismatch`.
    """
    if not path.is_file():
        raise NotFoundError(
            "index_missing",
            f"the index {path} does not exist",
            hint="Run `nexus-tools index run` to build it.",
        )
    with reported_damage(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_WAIT_S,
        )
        _check_or_close(connection, path, identity)
    return connection


def map_file(connection: sqlite3.Connection) -> None:
    """Map the first part of the file into memory.

    In a large file, SQLite reads most pages of a query with a system call each. Mapped pages need
    no system call, so that a query takes about the same time in a large file as in a small one.
    """
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")


def _check_or_close(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    try:
        _check(connection, path, identity)
    except BaseException:
        connection.close()
        raise


@contextmanager
def reported_damage(path: Path) -> Iterator[None]:
    """Convert errors of SQLite to `index_invalid`."""
    try:
        yield
    except (*DAMAGE, OSError) as error:
        raise invalid_error(path, error) from error


def invalid_error(path: Path, error: Exception | str) -> ValidationError:
    """Return the error for a file that SQLite cannot read."""
    return ValidationError("index_invalid", f"cannot read the index {path}: {error}", hint=_REBUILD)


def _check(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    """Raise an error unless the file has this identity and the current format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise invalid_error(path, "the file is not an index")
    if version != FORMAT:
        raise ValidationError(
            "index_format_unsupported",
            f"expected an index of format {FORMAT}, but {path} has format {version}",
            hint=_REBUILD,
        )
    row = connection.execute("SELECT chain_id, package FROM identity").fetchone()
    if row is None or connection.execute("SELECT 1 FROM cursor").fetchone() is None:
        raise invalid_error(path, "the file is empty")
    if row != (identity.chain_id, bytes(identity.package)):
        raise ValidationError(
            "index_identity_mismatch",
            f"the index {path} belongs to another network or package: chain {row[0]}, package"
            f" 0x{row[1].hex()}",
            hint="Move the file to another folder, then run `nexus-tools index run`.",
        )


def _check_workflows(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    (stored,) = connection.execute("SELECT workflows FROM identity").fetchone()
    if identity.workflows is not None and stored != bytes(identity.workflows):
        raise invalid_error(path, "it lacks the events of the package of workflows")


# --- Writing


@dataclass
class WritableIndex:
    """An index that is open for writing, and the descriptor that holds its lock.

    `replaced` is the reason why an unusable file was replaced by an empty index, or None. `is_new`
    is True if the file was created when it was opened.
    """

    path: Path
    identity: IndexIdentity
    connection: sqlite3.Connection
    replaced: NexusError | None = None
    lock: int | None = None
    is_new: bool = False

    def close(self) -> None:
        """Close the file and release the lock."""
        self.connection.close()
        if self.lock is not None:
            os.close(self.lock)

    def discard(self) -> None:
        """Delete the file, but keep the lock until `close`."""
        self.connection.close()
        delete_file(self.path)
        metadata_path(self.path).unlink(missing_ok=True)


def open_writer(path: Path, identity: IndexIdentity, *, oldest: int = 0) -> WritableIndex:
    """Open an index for writing. Create it if it does not exist or is damaged.

    The whole file is checked. `oldest` is the oldest checkpoint of the node, from which a new index
    is complete.

    Raises:
        WrongStateError: `index_locked` if another process writes the index.
        ValidationError: `index_identity_mismatch`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = _lock(path)
    try:
        replaced = _damage(path, identity)
        if replaced is not None:
            delete_file(path)
        is_new = not path.exists()
        if is_new:
            _create(path, identity, oldest)
            _write_metadata(path, identity)
        connection = connect_writer(path)
    except BaseException:
        os.close(lock)
        raise
    return WritableIndex(path, identity, connection, replaced, lock, is_new)


def create_copy(original: WritableIndex, oldest: int) -> WritableIndex:
    """Create an empty index beside an index that this process writes, for a rebuild."""
    path = original.path.with_name(f"{original.path.name}.new")
    delete_file(path)
    _create(path, original.identity, oldest)
    return WritableIndex(path, original.identity, connect_writer(path))


def replace_contents(original: WritableIndex, copy: WritableIndex) -> None:
    """Replace the contents of an index by a copy, in one transaction, and delete the copy.

    Readers see the old or the new contents. If the process is killed, the old contents remain.
    SQLite does not allow renaming a file over one that readers have open in WAL mode.
    """
    copy.connection.backup(original.connection)
    copy.close()
    delete_file(copy.path)
    original.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def delete_file(path: Path) -> None:
    """Delete an index with its log."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with suppress(FileNotFoundError):
            path.with_name(name).unlink()


def _lock(path: Path) -> int:
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise WrongStateError(
            "index_locked",
            f"another process writes the index {path}",
            hint="Use the index, which stays current, or stop the other process.",
        ) from None
    return descriptor


def _damage(path: Path, identity: IndexIdentity) -> NexusError | None:
    """Return the reason why a file has to be replaced, or None. Raises `index_identity_mismatch`.

    The identity is checked first, so that the index of another network is never replaced.
    """
    if not path.exists():
        return None
    try:
        with reported_damage(path):
            connection = connect_writer(path)
            try:
                _check(connection, path, identity)
                _check_workflows(connection, path, identity)
                (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            finally:
                connection.close()
    except ValidationError as error:
        if error.code == "index_identity_mismatch":
            raise
        return error
    return None if result == "ok" else invalid_error(path, result)


def _create(path: Path, identity: IndexIdentity, oldest: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    start = Cursor.after_checkpoint(oldest - 1) if oldest else Cursor.beginning()
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN EXCLUSIVE; {SCHEMA}")
        connection.execute(
            "INSERT INTO identity VALUES (?, ?, ?, ?, ?, NULL, 0)",
            (
                identity.chain_id,
                bytes(identity.package),
                None if identity.workflows is None else bytes(identity.workflows),
                secrets.token_hex(8),
                oldest,
            ),
        )
        connection.execute(
            "INSERT INTO cursor VALUES (0, ?, ?, 0, 0, 0, 0, 0)", (str(start), oldest)
        )
        connection.execute("COMMIT")
    finally:
        connection.close()


def _write_metadata(path: Path, identity: IndexIdentity) -> None:
    """Write the descriptions of the tables for `datasette INDEX --metadata FILE`."""
    document = msgspec.json.encode(describe_file(path, identity.package))
    metadata_path(path).write_bytes(msgspec.json.format(document) + b"\n")


def metadata_path(index: Path) -> Path:
    """Return the path of the descriptions of an index."""
    return index.with_name(f"{index.stem}.metadata.json")


def connect_writer(path: Path) -> sqlite3.Connection:
    """Connect to an index whose lock this process holds."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=_WAIT_S
    )
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_MOST_WAL_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection
