"""All versions of all objects in the database.

The versions of an ID only increase, even if the object is removed and created again. A dynamic
field that reappears gets the version of its parent, and every change of a field raises this
version.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.localnet.ledger.database import INDEX_BITS, State, damaged_error
from nexus_tools.sui.localnet.ledger.transaction import ExecutedTransaction
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, object_digest
from nexus_tools.sui.types.effects import (
    Absent,
    InputState,
    ObjectWrite,
    PackageWrite,
    TransactionEffects,
)
from nexus_tools.sui.types.object import OBJECT, Object


def write_objects(state: State, number: int, transaction: ExecutedTransaction) -> None:
    """Append the object changes of transaction `number`, inside a commit of the caller."""
    rows = _object_rows(number << INDEX_BITS, transaction)
    state.write_all("INSERT INTO objects VALUES (?, ?, ?, ?, ?)", rows)


def _object_rows(place: int, transaction: ExecutedTransaction) -> Iterator[tuple[Any, ...]]:
    digests = _output_digests(transaction.effects)
    written = zip(transaction.output_objects, transaction.output_bytes, strict=True)
    for value, data in written:
        yield place, value.id, value.version, digests[value.id], data
        place += 1
    for object_id in removed_objects(transaction.effects):
        yield place, object_id, transaction.effects.lamport_version, None, None
        place += 1


def _output_digests(effects: TransactionEffects) -> dict[Address, Digest]:
    return {
        object_id: change.output.digest
        for object_id, change in effects.changed_objects
        if isinstance(change.output, ObjectWrite | PackageWrite)
    }


def removed_objects(effects: TransactionEffects) -> Iterator[Address]:
    """Yield the objects that a transaction deleted or wrapped."""
    for object_id, change in effects.changed_objects:
        if isinstance(change.input, InputState) and isinstance(change.output, Absent):
            yield object_id


def changed_objects(state: State, number: int) -> set[Address]:
    """Return the IDs of the objects that changed in transaction `number` or later."""
    rows = state.rows("SELECT id FROM objects WHERE number >= ?", (number << INDEX_BITS,))
    return {Address(row[0]) for row in rows}


def delete_objects(state: State, number: int) -> None:
    """Delete the rows of transaction `number` and later, inside a commit of the caller."""
    state.write("DELETE FROM objects WHERE number >= ?", (number << INDEX_BITS,))


def read_object(state: State, object_id: Address, version: int) -> Object | None:
    """Return one version of an object, or None if it did not exist at that version."""
    return _first(
        state,
        "SELECT digest, bytes FROM objects WHERE id = ? AND version = ?",
        (object_id, version),
    )


def read_before(state: State, object_id: Address, number: int) -> Object | None:
    """Return an object as it was before transaction `number`, or None if it did not exist."""
    return _first(
        state,
        "SELECT digest, bytes FROM objects WHERE id = ? AND number < ?"
        " ORDER BY version DESC LIMIT 1",
        (object_id, number << INDEX_BITS),
    )


def read_version_before(
    state: State, object_id: Address, version: int, number: int
) -> Object | None:
    """Return one version of an object if a transaction before transaction `number` wrote it."""
    return _first(
        state,
        "SELECT digest, bytes FROM objects WHERE id = ? AND version = ? AND number < ?",
        (object_id, version, number << INDEX_BITS),
    )


def read_latest(state: State, object_ids: Iterable[Address]) -> Iterator[Object]:
    """Yield the latest version of each object in `object_ids`, except removed objects."""
    newest = "SELECT digest, bytes FROM objects WHERE id = ? ORDER BY version DESC LIMIT 1"
    for object_id in object_ids:
        value = _first(state, newest, (object_id,))
        if value is not None:
            yield value


def read_live(state: State) -> Iterator[Object]:
    """Yield all objects that exist, in their latest version."""
    # If a query has max(), SQLite reads the other columns from the row that has the maximum.
    return _all(state, "SELECT digest, bytes, max(version) FROM objects GROUP BY id", ())


def read_outputs(state: State, number: int) -> dict[bytes, Object]:
    """Return the objects that transaction `number` wrote, with their BCS bytes as keys."""
    rows = state.rows(
        "SELECT digest, bytes FROM objects WHERE number >= ? AND number < ? ORDER BY number",
        (number << INDEX_BITS, number + 1 << INDEX_BITS),
    )
    return {data: _object(state, digest, data) for digest, data in rows if data is not None}


def _first(state: State, query: str, parameters: tuple[Any, ...]) -> Object | None:
    return next(_all(state, query, parameters), None)


def _all(state: State, query: str, parameters: tuple[Any, ...]) -> Iterator[Object]:
    for digest, data, *_ in state.rows(query, parameters):
        if data is not None:
            yield _object(state, digest, data)


def _object(state: State, digest: bytes, data: bytes) -> Object:
    if object_digest(data) != digest:
        raise damaged_error(state.path, "an object does not match its digest")
    try:
        return OBJECT.decode(data)
    except BcsError as error:
        raise damaged_error(state.path, f"cannot decode an object: {error}") from error


# --- The past


class PastObjects:
    """The objects as they were before transaction `number` of the chain.

    The objects are cached, so repeated reads of an object return one `Object` instance.
    """

    __slots__ = ("_known", "_number", "_state")

    def __init__(self, state: State, number: int) -> None:
        self._state = state
        self._number = number
        self._known: dict[Address, Object | None] = {}

    def get(self, object_id: Address) -> Object | None:
        """Return an object as it was before the transaction, or None if it did not exist."""
        if object_id not in self._known:
            self._known[object_id] = read_before(self._state, object_id, self._number)
        return self._known[object_id]

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """Return a version of an object that was written before the transaction, or None."""
        return read_version_before(self._state, object_id, version, self._number)
