"""The writer of an index: each batch of events is one transaction that also moves the cursor."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.index.addresses import AddressNumbers
from nexus_tools.index.event_rows import EventRows, stored_closings, stored_state_events
from nexus_tools.index.index_file import WritableIndex, invalid_error
from nexus_tools.index.schema import EVENT_TABLES, STATE_TABLES, TOTAL_TABLES
from nexus_tools.index.state import State
from nexus_tools.index.totals import HOUR_MS, Totals
from nexus_tools.sui.client import Cursor, EventRecord, Mark, Progress
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

Item = EventRecord | Progress

_CLOSINGS_AT_ONCE = 5_000
_EVENTS_BETWEEN_RANKINGS = 200_000
_NEWEST_MARKS = 100
_MARK_DISTANCE = 1_000
_COMPARED = (
    *("seq", "owner", "url", "description", "timeout_ms", "price_mist", "payout"),
    *("accepts_any_leader", "requires_signed_outcome", "revision", "state", "definition_pending"),
)
"""The columns that decide whether a tool is the same after a rollback."""


class IndexWriter:
    """The writer of an open index.

    Another writer makes every method raise `index_taken_over`. The lock prevents this, unless the
    file system does not support locks.
    """

    def __init__(self, index: WritableIndex, deployment: Deployment) -> None:
        self.index = index
        self._connection = index.connection
        self._deployment = deployment
        self._numbers = AddressNumbers(self._connection)
        (cursor,) = self._connection.execute("SELECT value FROM cursor").fetchone()
        self._stored_cursor: str = cursor
        self._load()
        self._recognize()

    @property
    def cursor(self) -> Cursor:
        """The position up to which the index contains all events."""
        return Cursor.parse(self._stored_cursor)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection to the file."""
        return self._connection

    def _load(self) -> None:
        newest_ms, last_seq, last_change, *ranked = self._connection.execute(
            "SELECT newest_ms, last_seq, last_change, ranked_seq, ranked_ms FROM cursor"
        ).fetchone()
        self._rows = EventRows(
            self._connection,
            self._deployment,
            self._numbers,
            last_seq=last_seq,
            newest_ms=newest_ms,
        )
        self._state = State(self._connection, self._numbers, last_change)
        self._totals = Totals(self._connection, *ranked)

    @contextmanager
    def transaction(self, cursor: Cursor | None = None) -> Iterator[None]:
        """Run a transaction that starts with a compare-and-set of the cursor.

        If the block raises an error, nothing changes. Raises `index_taken_over`, `index_failed` or
        `index_invalid`.
        """
        following = self._stored_cursor if cursor is None else str(cursor)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._move_cursor(following)
            yield
            self._connection.execute(
                "UPDATE cursor SET newest_ms = ?, last_seq = ?, last_change = ?, ranked_seq = ?,"
                " ranked_ms = ?",
                (
                    self._rows.newest_ms,
                    self._rows.last_seq,
                    self._state.last_change,
                    self._totals.ranked_seq,
                    self._totals.ranked_ms,
                ),
            )
            self._connection.execute("COMMIT")
            self._stored_cursor = following
        except sqlite3.Error as error:
            self._abort()
            raise _failed_error(self.index, error) from error
        except BaseException:
            self._abort()
            raise

    def _move_cursor(self, following: str) -> None:
        moved = self._connection.execute(
            "UPDATE cursor SET value = ?, checkpoint = ? WHERE value = ?",
            (following, Cursor.parse(following).checkpoint, self._stored_cursor),
        )
        if not moved.rowcount:
            raise WrongStateError(
                "index_taken_over",
                f"another process has written to the index {self.index.path}",
                hint="Stop one of the processes, or read the index without writing it.",
            )

    def _abort(self) -> None:
        """Forget the transaction. A later transaction starts from what the file contains."""
        self._numbers.forget()
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._load()

    # --- Events

    def apply(self, items: Sequence[Item], *, is_behind: bool = False) -> None:
        """Write a batch of events, which must not be empty, and the cursor after it.

        If many events follow, pass `is_behind`. The sort values of tools and leaders are then
        updated only after many events, because an update changes pages all over the file.
        """
        previous_ms = self._rows.newest_ms
        with self.transaction(items[-1].cursor):
            self._add_mark(items[-1].cursor.mark)
            records = [item for item in items if isinstance(item, EventRecord)]
            closings = self._rows.append(records, self._state.apply)
            last_seq, newest_ms = self._rows.last_seq, self._rows.newest_ms
            if closings or newest_ms // HOUR_MS > previous_ms // HOUR_MS:
                self._totals.add(closings, newest_ms)
            if not is_behind or last_seq - self._totals.ranked_seq >= _EVENTS_BETWEEN_RANKINGS:
                self._totals.rank(last_seq, newest_ms)

    def _add_mark(self, mark: Mark | None) -> None:
        """Store a mark, and keep only one of the older marks in `_MARK_DISTANCE` checkpoints."""
        if mark is None:
            return
        self._connection.execute(
            "INSERT OR IGNORE INTO marks VALUES (?, ?, ?)",
            (
                mark.checkpoint,
                None if mark.is_checkpoint else mark.transaction,
                bytes(mark.digest),
            ),
        )
        self._connection.execute(
            "DELETE FROM marks WHERE checkpoint ="
            " (SELECT checkpoint FROM marks ORDER BY checkpoint DESC LIMIT 1 OFFSET ?)"
            " AND EXISTS (SELECT 1 FROM marks AS older WHERE older.checkpoint < marks.checkpoint"
            " AND older.checkpoint >= marks.checkpoint / ? * ?)",
            (_NEWEST_MARKS, _MARK_DISTANCE, _MARK_DISTANCE),
        )

    def marks(self) -> list[Mark]:
        """Return the marks, oldest first."""
        rows = self._connection.execute("SELECT * FROM marks ORDER BY checkpoint")
        return [
            Mark.of_checkpoint(checkpoint, Digest(digest))
            if transaction is None
            else Mark(checkpoint, transaction, Digest(digest))
            for checkpoint, transaction, digest in rows
        ]

    def roll_back(self, common: int) -> None:
        """Delete the events after a checkpoint, and derive all other tables again."""
        with self.transaction(Cursor.after_checkpoint(common)):
            for table in EVENT_TABLES:
                self._connection.execute(f"DELETE FROM {table} WHERE checkpoint > ?", (common,))  # noqa: S608 - constant names
            self._numbers.forget()
            self._rows.last_seq = self._last_seq()
            self._rows.newest_ms = self._newest_ms()
            self._derive()

    def _last_seq(self) -> int:
        tables = ("events", "unknown_events", "requests", "closings", "deletions")
        numbers = ", ".join(f"(SELECT coalesce(max(seq), 0) FROM {table})" for table in tables)  # noqa: S608 - constant names
        (last,) = self._connection.execute(f"SELECT max({numbers})").fetchone()
        return int(last)

    def _newest_ms(self) -> int:
        (newest,) = self._connection.execute(
            "SELECT max((SELECT coalesce(max(requested_at_ms), 0) FROM requests),"
            " (SELECT coalesce(max(at_ms), 0) FROM closings))"
        ).fetchone()
        return int(newest)

    def _recognize(self) -> None:
        """Read the events that an older version of the program did not know."""
        (unknown,) = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM unknown_events)"
        ).fetchone()
        if unknown:
            with self.transaction():
                if self._rows.recognize():
                    self._derive()

    # --- Derived tables

    def derive(self) -> None:
        """Derive the state and the totals from the event rows again."""
        with self.transaction():
            self._derive()

    def _derive(self) -> None:
        """Derive the state and the totals from the event rows again.

        A tool gets a new change number only if it changed, so that readers of changes stay fast.
        """
        connection = self._connection
        connection.execute("CREATE TEMP TABLE old_tools AS SELECT * FROM tools")
        for table in (*STATE_TABLES, *TOTAL_TABLES):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constant names
        for stored in stored_state_events(connection):
            self._state.apply(stored)
        newest_ms = self._rows.newest_ms
        closings = iter(stored_closings(connection))
        while batch := list(islice(closings, _CLOSINGS_AT_ONCE)):
            self._totals.add(batch, newest_ms)
        self._totals.ranked_seq, self._totals.ranked_ms = 0, newest_ms
        self._totals.rank(self._rows.last_seq, newest_ms)
        connection.execute(
            "DELETE FROM definitions WHERE seq > ? OR tool NOT IN (SELECT id FROM tools)",
            (self._rows.last_seq,),
        )
        connection.execute(
            "UPDATE tools SET definition_pending = 0 WHERE id IN (SELECT tool FROM definitions)"
        )
        self._restore_changes()
        connection.execute("DROP TABLE old_tools")

    def _restore_changes(self) -> None:
        """Restore the change numbers of equal tools, and record which tools were removed."""
        same = " AND ".join(f"old.{column} IS tools.{column}" for column in _COMPARED)
        self._connection.execute(
            f"UPDATE tools SET change = old.change FROM old_tools AS old"  # noqa: S608 - constant names
            f" WHERE old.id = tools.id AND {same}"
        )
        removed = self._connection.execute(
            "SELECT id, fqn FROM old_tools WHERE id NOT IN (SELECT id FROM tools) ORDER BY id"
        ).fetchall()
        for tool, fqn in removed:
            self._state.last_change += 1
            self._connection.execute(
                "INSERT OR REPLACE INTO removed_tools VALUES (?, ?, ?)",
                (tool, fqn, self._state.last_change),
            )

    # --- Definitions

    def pending_definitions(self, limit: int) -> list[tuple[int, int, Address]]:
        """Return tools whose definition has not been read: number, `seq` and object ID."""
        rows = self._connection.execute(
            "SELECT tools.id, tools.seq, address FROM tools JOIN addresses USING (id)"
            " WHERE definition_pending ORDER BY tools.id LIMIT ?",
            (limit,),
        )
        return [(tool, seq, Address(address)) for tool, seq, address in rows]

    def save_definitions(self, words: Mapping[tuple[int, int], str]) -> None:
        """Store the words of definitions by number and `seq` of their tool.

        A tool that was removed in the meantime is skipped.
        """
        with self.transaction():
            for (tool, seq), text in words.items():
                self._state.save_words(tool, seq, text)


def _failed_error(index: WritableIndex, error: sqlite3.Error) -> NexusError:
    if type(error) is sqlite3.DatabaseError:
        return invalid_error(index.path, error)
    return NexusError(
        "index_failed",
        f"cannot write to the index {index.path}: {error}",
        hint="Check the disk, then start the command again.",
    )
