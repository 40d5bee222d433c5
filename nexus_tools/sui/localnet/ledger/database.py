"""The durable log: one SQLite database, in a directory or in a temporary file, and its tables.

What a commit wrote into a directory survives the death of the process at any moment: the
write-ahead log is in the hands of the operating system before `commit` returns. A power failure can
take the last commits, never a part of one. A temporary file has no name from the moment on at which
SQLite makes it, so nothing is left of it, however the process ends. SQLite says where it is: in
`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp` or `/tmp`.

A transaction's number counts from 0 over the whole chain. What belongs to a transaction, its events
and the objects that it wrote, has `number << 16 | place` as its own: so the rows of one transaction
are neighbours, the order of the rows is that of the chain, and what came after a point in it is one
range. The third event of transaction 5 is row 5 * 65 536 + 2 = 327 682, and to go back to before
that transaction is to delete all rows from 327 680 on.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nexus_tools.sui.errors import NexusError, NotNowError, ValidationError

APPLICATION_ID = 0x4E784C67  # "NxLg"
FORMAT = 2
"""The form of the tables and of what has to be in them: since 2, 0x5 and 0xacc."""

PLACE_BITS = 16
"""Bits for the place inside a transaction: more than the 2048 objects and 1024 events allowed."""

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
    # An object that ceased to exist has a row without bytes at the version at which it did.
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
    "CREATE INDEX events_by_sender ON events (sender)",
    "CREATE INDEX events_by_module ON events (package, module)",
    "CREATE INDEX events_by_type ON events (type_address, type_module, type_name)",
)

STATE_FILE_NAME = "ledger.sqlite"


class State:
    """The database of one network, which one process holds at a time.

    Every method raises `state_damaged` if the database cannot be read, `state_write_failed` if the
    disk does not take what is written, and `state_conflict` if it contradicts what is there.
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
        """The state in a directory, which is made if it is missing.

        Raises `state_locked` if another process holds it, `state_format_unsupported` and
        `state_damaged` if it is not one that this version reads.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise NexusError(
                "state_write_failed", f"the directory {directory} cannot be made: {error.strerror}"
            ) from None
        return cls(directory / STATE_FILE_NAME)

    def close(self) -> None:
        """Let the database go. What was committed stays."""
        self._connection.close()

    # --- Reading

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows that a query gives."""
        with self._translated:
            return self._connection.execute(statement, parameters).fetchall()

    def row(self, statement: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The first row that a query gives."""
        with self._translated:
            row: tuple[Any, ...] | None = self._connection.execute(statement, parameters).fetchone()
            return row

    def setting(self, key: str) -> bytes | None:
        """A value that belongs to the network as a whole."""
        row = self.row("SELECT value FROM settings WHERE key = ?", (key,))
        return None if row is None else bytes(row[0])

    # --- Writing

    @contextmanager
    def commit(self) -> Iterator[None]:
        """All writes inside become durable together at its end, or none if it raises."""
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
        """Run a statement once for each row of parameters; only inside `commit`."""
        self.write_all(statement, rows)

    def write_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """As `write`."""
        self._connection.executemany(statement, rows)

    def set_setting(self, key: str, value: bytes) -> None:
        """Keep a value that belongs to the network as a whole; only inside `commit`."""
        self.write("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, value))

    # --- Opening

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        if self.path is None:
            # What dies with the process needs no journal but for commits that raise; one in memory
            # makes a transfer a tenth cheaper than one in a second file.
            execute("PRAGMA journal_mode = MEMORY")
        else:
            execute("PRAGMA journal_mode = WAL")
            execute("PRAGMA synchronous = NORMAL")
        # The lock is taken here and kept until the connection is closed.
        execute("BEGIN EXCLUSIVE")
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._create()
        execute("COMMIT")
        self._check_format()

    def _create(self) -> None:
        for statement in TABLES:
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_format(self) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (number,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise damaged(self.path, "it is another program's database")
        if number != FORMAT:
            raise ValidationError(
                "state_format_unsupported",
                f"the state in {self.path} has format {number}, this version reads {FORMAT}",
                hint="start with a new directory, or use the version that made it",
            )


class _Translation:
    """Raises the errors of SQLite as those of the state in a file."""

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
        return ValidationError(
            "state_conflict", f"what is written contradicts what is there: {error}"
        )
    if not isinstance(error, sqlite3.OperationalError):
        return damaged(path, str(error))
    reason = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if reason in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return NotNowError(
            "state_locked",
            f"the state in {path} is in use by another process",
            hint="stop the other localnet, or give this one a directory of its own",
        )
    return NexusError("state_write_failed", f"the state in {_place(path)} fails: {error}")


def damaged(path: Path | None, reason: str) -> ValidationError:
    """The error for a state that is not what was written."""
    return ValidationError(
        "state_damaged",
        f"the state in {_place(path)} is damaged: {reason}",
        hint="restore a copy of it, or start with a new directory",
    )


def _place(path: Path | None) -> str:
    return "a temporary file" if path is None else str(path)
