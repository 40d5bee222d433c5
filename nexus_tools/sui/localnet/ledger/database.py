"""The state of a network: an SQLite database in a directory or in a temporary file.

A commit to a database in a directory survives a crash of the process. The operating system has
received the write-ahead log before `commit` returns. A power failure can lose the last commits, but
it never leaves a commit half done. SQLite unlinks a temporary file immediately after creating it,
so the file disappears when the process ends for any reason. The file is in `SQLITE_TMPDIR`,
`TMPDIR`, `/var/tmp` or `/tmp`.

Transactions are numbered from 0 over the whole chain. An event or written object has the row number
`number << 16 | place`, where `number` is the number of the transaction and `place` is the index
within the transaction. So the rows of one transaction are adjacent, and the rows are in the order
of the chain. All rows after a point of the chain are one range. The third event of transaction 5 is
row 5 * 65 536 + 2 = 327 682. A revert to a point before that transaction deletes all rows from 327
680 on.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nexus_tools.sui.errors import NexusError, ValidationError, WrongStateError

APPLICATION_ID = 0x4E784C67  # "NxLg" in ASCII
FORMAT = 2
"""The version of the database format. Format 2 requires the objects 0x5 and 0xacc."""

INDEX_BITS = 16
"""The number of bits in a row number for the index within the transaction.

Sui allows 2048 objects and 1024 events in one transaction.
"""

TABLES = (
    "CREATE TABLE settings (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE checkpoints (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_transaction INTEGER NOT NULL,
        timestamp_ms INTEGER NOT NULL,
        summary BLOB NOT NULL,
        contents BLOB NOT NULL)""",
    """CREATE TABLE transactions (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        checkpoint INTEGER NOT NULL,
        data BLOB NOT NULL,
        signatures BLOB NOT NULL,
        effects BLOB NOT NULL,
        inputs BLOB NOT NULL)""",
    # A removed object has a row without bytes at the version that removed it.
    """CREATE TABLE objects (
        number INTEGER PRIMARY KEY,
        id BLOB NOT NULL,
        version INTEGER NOT NULL,
        digest BLOB,
        bytes BLOB,
        UNIQUE (id, version))""",
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        package BLOB NOT NULL,
        module TEXT NOT NULL,
        sender BLOB NOT NULL,
        type_address BLOB NOT NULL,
        type_module TEXT NOT NULL,
        type_name TEXT NOT NULL,
        type_params BLOB NOT NULL,
        contents BLOB NOT NULL)""",
)

# Opening a database creates the indexes that it lacks.
INDEXES = (
    "CREATE INDEX IF NOT EXISTS events_by_sender ON events (sender)",
    "CREATE INDEX IF NOT EXISTS events_by_module ON events (package, module)",
    "CREATE INDEX IF NOT EXISTS events_by_type ON events (type_address, type_module, type_name)",
    """CREATE INDEX IF NOT EXISTS events_by_sender_and_type
        ON events (sender, type_address, type_module, type_name)""",
)

STATE_FILE_NAME = "ledger.sqlite"


class State:
    """The database of one network. Only one process at a time can open a database.

    Every method raises `state_damaged` if the database cannot be read, `state_write_failed` if the
    disk refuses a write, and `state_conflict` if a write contradicts existing rows.
    """

    __slots__ = ("_connection", "_translated", "path")

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._translated = _Translation(path)
        with self._translated:
            self._connection = sqlite3.connect(
                path or "", timeout=0, isolation_level=None, check_same_thread=False
            )
        try:
            with self._translated:
                self._prepare()
        except NexusError:
            self._connection.close()
            raise

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the state in a directory, and create the directory if it is missing.

        Raises:
            WrongStateError: `state_locked` if another process uses it.
            ValidationError: `state_format_unsupported`, `state_damaged`.
            NexusError: `state_write_failed`.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise NexusError(
                "state_write_failed", f"cannot create the folder {directory}: {error.strerror}"
            ) from None
        return cls(directory / STATE_FILE_NAME)

    def close(self) -> None:
        """Close the database. Committed data remains."""
        self._connection.close()

    # --- Reads

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._translated:
            return self._connection.execute(statement, parameters).fetchall()

    def row(self, statement: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        with self._translated:
            row: tuple[Any, ...] | None = self._connection.execute(statement, parameters).fetchone()
            return row

    def setting(self, key: str) -> bytes | None:
        """Return the value of a network setting, or None."""
        row = self.row("SELECT value FROM settings WHERE key = ?", (key,))
        return None if row is None else bytes(row[0])

    # --- Writes

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Commit all writes of the `with` block. If the block raises, roll back the writes."""
        with self._translated:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def write(self, statement: str, *rows: Sequence[Any]) -> None:
        """Run a statement once for each row of parameters, inside a `commit` of the caller."""
        self.write_all(statement, rows)

    def write_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of an iterable, inside a `commit` of the caller."""
        self._connection.executemany(statement, rows)

    def set_setting(self, key: str, value: bytes) -> None:
        """Store the value of a network setting. Call this method only inside `commit`."""
        self.write("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, value))

    # --- Opening

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        if self.path is None:
            # A temporary database needs a journal only to roll back a commit that raises. A
            # transfer takes 10 % less time with a journal in memory than with a journal file.
            execute("PRAGMA journal_mode = MEMORY")
        else:
            execute("PRAGMA journal_mode = WAL")
            execute("PRAGMA synchronous = NORMAL")
        # This transaction locks the database until the connection is closed.
        execute("BEGIN EXCLUSIVE")
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._create()
        self._check_format()
        for statement in INDEXES:
            execute(statement)
        execute("COMMIT")

    def _create(self) -> None:
        for statement in TABLES:
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_format(self) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (number,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise damaged_error(self.path, "the database belongs to another program")
        if number != FORMAT:
            raise ValidationError(
                "state_format_unsupported",
                f"the state in {self.path} has format {number}, but this version expects {FORMAT}",
                hint="Start with a new folder, or use the version that created this state.",
            )


class _Translation:
    """A context manager that raises SQLite errors as `NexusError` (`state_damaged` and others)."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, sqlite3.DatabaseError):
            raise _translated(self._path, error) from error


def _translated(path: Path | None, error: sqlite3.DatabaseError) -> NexusError:
    if isinstance(error, sqlite3.IntegrityError):
        return ValidationError("state_conflict", f"the write contradicts existing rows: {error}")
    if not isinstance(error, sqlite3.OperationalError):
        return damaged_error(path, str(error))
    reason = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if reason in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return WrongStateError(
            "state_locked",
            f"the state in {path} is in use by another process",
            hint="Stop the other localnet, or use another folder for this localnet.",
        )
    return NexusError("state_write_failed", f"cannot write the state in {_place(path)}: {error}")


def damaged_error(path: Path | None, reason: str) -> ValidationError:
    """Return the error for a damaged state."""
    return ValidationError(
        "state_damaged",
        f"the state in {_place(path)} is damaged: {reason}",
        hint="Restore a copy of the state, or start with a new folder.",
    )


def _place(path: Path | None) -> str:
    return "a temporary file" if path is None else str(path)
