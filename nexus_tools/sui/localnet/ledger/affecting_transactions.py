"""The search for the transactions that changed an object, newest or oldest first.

A transaction changes an object if its effects list the ID in `changed_objects`. If the transaction
wrote or removed the object, the table `objects` has a row. The other changes are in the table
`unwritten_changes`. These are changes of address balances, and objects that were created and
wrapped, or unwrapped and deleted, in the same transaction.

The index of `objects` lists the versions of an ID, and later transactions write higher versions. So
a page of versions is a page of transactions. The page starts at a version that a binary search
finds.
"""

from collections.abc import Collection, Iterator

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.ledger.database import INDEX_BITS, State, damaged_error
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import (
    TRANSACTION_EFFECTS,
    Absent,
    InputState,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
    TransactionEffects,
)

_TABLE = "CREATE TABLE unwritten_changes (number INTEGER PRIMARY KEY, id BLOB NOT NULL)"
_INDEX = "CREATE INDEX unwritten_changes_by_object ON unwritten_changes (id)"
_INSERT = "INSERT OR REPLACE INTO unwritten_changes VALUES (?, ?)"
_BATCH = 1_000


# --- Writes


def add_unwritten_changes(state: State) -> None:
    """Add the table `unwritten_changes` to a database that does not have it, and fill the table."""
    if state.row("SELECT 1 FROM sqlite_master WHERE name = 'unwritten_changes'"):
        return
    with state.commit():
        state.write(_TABLE, ())
        state.write(_INDEX, ())
        for number, effects in _past_effects(state):
            write_unwritten_changes(state, number, effects)


def _past_effects(state: State) -> Iterator[tuple[int, TransactionEffects]]:
    start = 0
    while rows := state.rows(
        "SELECT number, effects FROM transactions WHERE number >= ? ORDER BY number LIMIT ?",
        (start, _BATCH),
    ):
        for number, effects in rows:
            try:
                yield number, TRANSACTION_EFFECTS.decode(effects)
            except BcsError as error:
                raise damaged_error(state.path, f"transaction {number}: {error}") from error
        start = rows[-1][0] + 1


def write_unwritten_changes(state: State, number: int, effects: TransactionEffects) -> None:
    """Append the changes of transaction `number` without a row in `objects`, inside a commit."""
    ids = dict.fromkeys(
        object_id for object_id, change in effects.changed_objects if not _has_row(change)
    )
    if ids:
        state.write_all(_INSERT, enumerate(ids, number << INDEX_BITS))


def _has_row(change: ObjectChange) -> bool:
    """Return whether the table `objects` has a row for the change."""
    if isinstance(change.output, ObjectWrite | PackageWrite):
        return True
    return isinstance(change.input, InputState) and isinstance(change.output, Absent)


def delete_unwritten_changes(state: State, number: int) -> None:
    """Delete the rows of transaction `number` and later, inside a commit of the caller."""
    state.write("DELETE FROM unwritten_changes WHERE number >= ?", (number << INDEX_BITS,))


# --- Reads


def affecting_transactions(
    state: State,
    object_ids: Collection[Address],
    first: int,
    end: int,
    *,
    limit: int,
    descending: bool,
) -> list[int]:
    """Return the numbers of at most `limit` transactions that changed one of these objects.

    The rows of the changes have numbers from `first` up to, but excluding, `end`.
    """
    order = "DESC" if descending else "ASC"
    numbers: set[int] = set()
    for object_id in object_ids:
        start, stop = (_first_version(state, object_id, number) for number in (first, end))
        rows = state.rows(
            "SELECT number FROM objects WHERE id = ? AND version >= ? AND version < ?"  # noqa: S608
            f" ORDER BY version {order} LIMIT ?",
            (object_id, start, stop, limit),
        )
        rows += state.rows(
            "SELECT number FROM unwritten_changes"  # noqa: S608
            " WHERE id = ? AND number >= ? AND number < ?"
            f" ORDER BY number {order} LIMIT ?",
            (object_id, first, end, limit),
        )
        numbers.update(number >> INDEX_BITS for (number,) in rows)
    return sorted(numbers, reverse=descending)[:limit]


def _first_version(state: State, object_id: Address, number: int) -> int:
    """Return the lowest version of an object whose row has at least this number.

    If no version has such a row, return a number above all versions. For example, the versions 3, 5
    and 9 have the rows 10, 20 and 30. Then the result for row 15 is 5, and the result for row 31 is
    10.
    """
    newest = state.row("SELECT max(version) FROM objects WHERE id = ?", (object_id,))
    low, high = 0, (newest[0] if newest and newest[0] is not None else -1) + 1
    while low < high:
        middle = (low + high) // 2
        version = state.row(
            "SELECT version, number FROM objects WHERE id = ? AND version >= ?"
            " ORDER BY version LIMIT 1",
            (object_id, middle),
        )
        if version is None or version[1] >= number:
            high = middle
        else:
            low = version[0] + 1
    return low
