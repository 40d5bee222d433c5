"""Functions that write, delete and read the events of the chain in the database."""

from typing import Any, NamedTuple

from msgspec import Struct

from nexus_tools.sui.localnet.ledger.database import INDEX_BITS, State
from nexus_tools.sui.localnet.ledger.event_filter import TYPE_PARAMS, EventFilter
from nexus_tools.sui.localnet.ledger.event_query import page_query
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import StructTag

_EVENT = """package, module, e.sender, type_address, type_module, type_name, type_params,
    e.contents"""
_NUMBER = 8  # The index of the first column after the columns of `_EVENT`.
_AFTER_ALL = 2**63 - 1  # The largest integer of SQLite.


class EventPosition(NamedTuple):
    """The position of an event in the chain. All numbers count from 0."""

    checkpoint: int
    transaction: int = 0
    event: int = 0


class LedgerEvent(Struct, frozen=True):
    """An event and its position."""

    position: EventPosition
    transaction_digest: Digest
    timestamp_ms: int
    event: Event


def write_events(state: State, transaction: int, events: tuple[Event, ...]) -> None:
    """Append the events of the transaction with this number, inside a commit of the caller."""
    state.write_all(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                transaction << INDEX_BITS | place,
                event.package,
                event.module,
                event.sender,
                event.type.address,
                event.type.module,
                event.type.name,
                TYPE_PARAMS.encode(event.type.type_params),
                event.contents,
            )
            for place, event in enumerate(events)
        ),
    )


def delete_events(state: State, transaction: int) -> None:
    """Delete the events of this and all later transactions, inside a commit of the caller."""
    state.write("DELETE FROM events WHERE number >= ?", (transaction << INDEX_BITS,))


def read_events(state: State, transaction: int) -> tuple[Event, ...]:
    """Return the events of a transaction."""
    rows = state.rows(
        f"SELECT {_EVENT} FROM events e WHERE number >= ? AND number < ? ORDER BY number",  # noqa: S608
        (transaction << INDEX_BITS, transaction + 1 << INDEX_BITS),
    )
    return tuple(map(_event, rows))


def select_events(
    state: State,
    event_filter: EventFilter | None,
    start: EventPosition,
    end: EventPosition | None,
    *,
    limit: int,
    descending: bool,
) -> list[LedgerEvent]:
    """Return at most `limit` matching events from `start` (included) to `end` (excluded)."""
    first, last = row_number(state, start), row_number(state, end) if end else _AFTER_ALL
    page = page_query(state, event_filter, first, last, limit=limit, descending=descending)
    if page is None:
        return []
    query, parameters = page
    rows = state.rows(
        f"""SELECT {_EVENT}, e.number, c.number, c.first_transaction, t.digest, c.timestamp_ms
            FROM ({query}) AS page CROSS JOIN events e ON e.number = page.number
            JOIN transactions t ON t.number = e.number >> {INDEX_BITS}
            JOIN checkpoints c ON c.number = t.checkpoint""",  # noqa: S608
        parameters,
    )
    rows.sort(key=lambda row: row[_NUMBER], reverse=descending)
    return [_ledger_event(row) for row in rows]


def row_number(state: State, position: EventPosition) -> int:
    """Return the number of the first row at or after a position."""
    row = state.row(
        "SELECT first_transaction FROM checkpoints WHERE number = ?",
        (min(position.checkpoint, _AFTER_ALL),),
    )
    if row is None:  # the position is after the last checkpoint
        return _AFTER_ALL
    # A page may end at a position after the last transaction of a checkpoint. This position is the
    # start of the next checkpoint, because numbers continue over the whole chain.
    transaction: int = row[0] + position.transaction
    return min((transaction << INDEX_BITS) + position.event, _AFTER_ALL)


def _ledger_event(row: tuple[Any, ...]) -> LedgerEvent:
    number, checkpoint, first_transaction, digest, timestamp_ms = row[_NUMBER:]
    transaction, place = number >> INDEX_BITS, number & (1 << INDEX_BITS) - 1
    position = EventPosition(checkpoint, transaction - first_transaction, place)
    return LedgerEvent(position, Digest(digest), timestamp_ms, _event(row))


def _event(row: tuple[Any, ...]) -> Event:
    package, module, sender, address, type_module, name, params, contents = row[:_NUMBER]
    tag = StructTag(Address(address), type_module, name, TYPE_PARAMS.decode(params))
    return Event(Address(package), module, Address(sender), tag, contents)
