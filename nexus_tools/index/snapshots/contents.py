"""The rows of events of an index that is built from a snapshot, in the order of the chain."""

import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from nexus_tools.contracts import Deployment
from nexus_tools.errors import ValidationError
from nexus_tools.index.addresses import AddressNumbers
from nexus_tools.index.event_rows import EventRows
from nexus_tools.index.index_file import DAMAGE, WritableIndex
from nexus_tools.index.snapshots.creation import SNAPSHOT_TABLES
from nexus_tools.index.snapshots.manifest import SnapshotManifest, snapshot_invalid
from nexus_tools.sui.client import Cursor, EventRecord, Mark

_ROW_TABLES = tuple(table for table in SNAPSHOT_TABLES if table != "addresses")
_ALL_ROWS = " UNION ALL ".join(f"SELECT seq, checkpoint FROM {table}" for table in _ROW_TABLES)  # noqa: S608 - constant names
_DISORDER = (
    "SELECT count(*), coalesce(max(seq), 0), coalesce(min(checkpoint), :newest),"  # noqa: S608 - constant names
    " coalesce(max(checkpoint), 0), coalesce(sum(seq <> before + 1 OR checkpoint < earlier), 0)"
    " FROM (SELECT seq, checkpoint, lag(seq, 1, 0) OVER rows_in_order AS before,"
    "  lag(checkpoint, 1, 0) OVER rows_in_order AS earlier"
    f"  FROM ({_ALL_ROWS}) WINDOW rows_in_order AS (ORDER BY seq))"
)
_RECENT = 1_000
"""The number of earlier rows that contain the newest time. Times hardly ever decrease."""

Rows = Mapping[str, Sequence[tuple[Any, ...]]]


class Window(Struct, frozen=True):
    """All rows of the checkpoints from `first_checkpoint` to `last_checkpoint`.

    They have the numbers from `first` to `last`. A window without rows has the `last` number
    `first - 1`.
    """

    first_checkpoint: int
    last_checkpoint: int
    first: int
    last: int


class SnapshotRows:
    """The rows of an untrusted snapshot, copied into an empty index."""

    def __init__(
        self, index: WritableIndex, deployment: Deployment, manifest: SnapshotManifest
    ) -> None:
        self._connection = index.connection
        self._deployment = deployment
        self._numbers = AddressNumbers(index.connection)
        self._manifest = manifest
        self.count = 0
        """The number of rows, and the number of the last row."""

    # --- Copying

    def copy(self, plain: Path) -> None:
        """Copy the rows of a file, and check their types and order. Raises `snapshot_invalid`.

        Only values in plain tables are read. Triggers and views of an untrusted file could run
        statements of its author.
        """
        connection = self._connection
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("ATTACH ? AS snapshot", (str(plain),))
            self._check_tables()
            connection.execute("BEGIN IMMEDIATE")
            for table in SNAPSHOT_TABLES:
                connection.execute(f"INSERT INTO main.{table} SELECT * FROM snapshot.{table}")  # noqa: S608 - constant names
            self._check_order()
            self._recognize()
            connection.execute("COMMIT")
            connection.execute("DETACH snapshot")
        except DAMAGE as error:
            raise snapshot_invalid(str(error)) from error

    def _check_tables(self) -> None:
        kinds = {
            name: kind
            for _, name, kind, *_ in self._connection.execute("PRAGMA snapshot.table_list")
        }
        if any(kinds.get(table) != "table" for table in SNAPSHOT_TABLES):
            raise snapshot_invalid("its file does not contain the tables of a snapshot")
        for table in SNAPSHOT_TABLES:
            columns = self._connection.execute(f"PRAGMA snapshot.table_xinfo({table})").fetchall()
            if any(hidden for *_, hidden in columns):
                raise snapshot_invalid("its file contains computed columns")

    def _check_order(self) -> None:
        manifest = self._manifest
        count, last, oldest, newest, disorder = self._connection.execute(
            _DISORDER, {"newest": manifest.checkpoint}
        ).fetchone()
        if count != last or disorder:
            raise snapshot_invalid("rows are missing, or are not in the order of the chain")
        if count and not manifest.complete_since <= oldest <= newest <= manifest.checkpoint:
            raise snapshot_invalid("it contains rows outside of the checkpoints of its manifest")
        self.count = count

    def _recognize(self) -> None:
        """Move events that an older release of the publisher did not know."""
        rows = EventRows(
            self._connection, self._deployment, self._numbers, last_seq=self.count, newest_ms=0
        )
        try:
            rows.recognize()
        except ValidationError as error:
            raise snapshot_invalid(error.message) from error

    # --- Windows

    def window_at(self, number: int) -> Window:
        """Return the window from the checkpoint of a row to that of the next rows."""
        first_checkpoint = self._checkpoint_of(number)
        following = self._first_after(first_checkpoint)
        if following > self.count:
            return self._window(first_checkpoint, self._manifest.checkpoint)
        return self._window(first_checkpoint, self._checkpoint_of(following))

    def beginning(self) -> Window:
        """Return the window of all checkpoints up to that of the first row."""
        since = self._manifest.complete_since
        last = self._checkpoint_of(1) if self.count else self._manifest.checkpoint
        return self._window(since, last)

    def end(self, count: int) -> Window:
        """Return the window with at least the last `count` rows, and all later checkpoints."""
        number = max(1, self.count - count + 1)
        first = self._checkpoint_of(number) if self.count else self._manifest.complete_since
        return self._window(first, self._manifest.checkpoint)

    def _window(self, first_checkpoint: int, last_checkpoint: int) -> Window:
        first = self._first_after(first_checkpoint - 1)
        last = self._first_after(last_checkpoint) - 1
        return Window(first_checkpoint, last_checkpoint, first, last)

    def _first_after(self, checkpoint: int) -> int:
        """Return the number of the first row after a checkpoint."""
        numbers = range(1, self.count + 1)
        return 1 + bisect_left(numbers, checkpoint + 1, key=self._checkpoint_of)

    def _checkpoint_of(self, number: int) -> int:
        for table in _ROW_TABLES:
            row = self._connection.execute(
                f"SELECT checkpoint FROM {table} WHERE seq = ?",  # noqa: S608 - constant names
                (number,),
            ).fetchone()
            if row is not None:
                return int(row[0])
        raise AssertionError("the rows have been counted")

    # --- Comparison

    def equals(self, window: Window, records: Sequence[EventRecord]) -> bool:
        """Return whether the rows of a window are those of the events of the chain.

        The rows are replaced by those of the events and compared, and then restored.
        """
        stored = self._read(window)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for table in _ROW_TABLES:
                self._connection.execute(
                    f"DELETE FROM {table} WHERE seq BETWEEN ? AND ?",  # noqa: S608 - constant names
                    (window.first, window.last),
                )
            rows = EventRows(
                self._connection,
                self._deployment,
                self._numbers,
                last_seq=window.first - 1,
                newest_ms=self._newest_ms(window.first),
            )
            rows.append(records, lambda _: None)
            return rows.last_seq == window.last and self._read(window) == stored
        except sqlite3.IntegrityError:  # more rows than the window has numbers
            return False
        finally:
            self._connection.execute("ROLLBACK")
            self._numbers.forget()

    def _read(self, window: Window) -> Rows:
        return {
            table: self._connection.execute(
                f"SELECT * FROM {table} WHERE seq BETWEEN ? AND ? ORDER BY seq",  # noqa: S608 - constant names
                (window.first, window.last),
            ).fetchall()
            for table in _ROW_TABLES
        }

    def _newest_ms(self, before: int) -> int:
        """Return the time of the newest request or closing before a row."""
        ((newest,),) = self._connection.execute(
            "SELECT max(coalesce((SELECT max(requested_at_ms) FROM (SELECT requested_at_ms"
            " FROM requests WHERE seq < :before ORDER BY seq DESC LIMIT :recent)), 0),"
            " coalesce((SELECT max(at_ms) FROM (SELECT at_ms FROM closings WHERE seq < :before"
            " ORDER BY seq DESC LIMIT :recent)), 0))",
            {"before": before, "recent": _RECENT},
        )
        return int(newest)

    # --- The cursor

    def move_cursor(self, marks: Sequence[Mark]) -> None:
        """Set the cursor after the last checkpoint, and store marks, oldest first."""
        checkpoint = self._manifest.checkpoint
        cursor = Cursor.after_checkpoint(checkpoint, mark=marks[-1] if marks else None)
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT OR REPLACE INTO marks VALUES (?, ?, ?)",
            [(mark.checkpoint, mark.transaction, bytes(mark.digest)) for mark in marks],
        )
        connection.execute(
            "UPDATE cursor SET value = ?, checkpoint = ?, newest_ms = ?, last_seq = ?",
            (str(cursor), checkpoint, self._newest_ms(self.count + 1), self.count),
        )
        connection.execute("COMMIT")
