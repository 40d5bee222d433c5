"""The events of the whole chain, in order."""

from typing import Any, NamedTuple

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.ledger.event_filter import TYPE_PARAMS, EventFilter, condition
from nexus_tools.localnet.ledger.schema import PLACE_BITS
from nexus_tools.localnet.ledger.state import State
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.event import Event
from nexus_tools.sui.type_tag import StructTag

_EVENT = """package, module, e.sender, type_address, type_module, type_name, type_params,
    e.contents"""
_BEHIND_ALL = 2**63 - 1  # the largest number that SQLite knows


class EventPosition(NamedTuple):
    """Where an event stands: numbers from 0; positions compare in the order of the chain."""

    checkpoint: int
    transaction: int = 0
    event: int = 0


@dataclass(frozen=True, slots=True)
class LedgerEvent:
    """An event and where it stands."""

    position: EventPosition
    transaction_digest: Digest
    timestamp_ms: int
    event: Event


def write_events(state: State, transaction: int, events: tuple[Event, ...]) -> None:
    """Append the events of a transaction, named by its number; only inside a commit."""
    state.write_all(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                transaction << PLACE_BITS | place,
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
    """Take back the events of this transaction and all later ones; only inside a commit."""
    state.write("DELETE FROM events WHERE number >= ?", (transaction << PLACE_BITS,))


def read_events(state: State, transaction: int) -> tuple[Event, ...]:
    """The events of a transaction."""
    rows = state.rows(
        f"SELECT {_EVENT} FROM events e WHERE number >= ? AND number < ? ORDER BY number",  # noqa: S608
        (transaction << PLACE_BITS, transaction + 1 << PLACE_BITS),
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
    """At most `limit` events from `start` up to, but without, `end`."""
    where, parameters = condition(event_filter)
    numbers = [_number(state, start), _number(state, end) if end else _BEHIND_ALL]
    rows = state.rows(
        f"""SELECT {_EVENT}, e.number, c.number, c.first_transaction, t.digest, c.timestamp_ms
            FROM events e JOIN transactions t ON t.number = e.number >> {PLACE_BITS}
            JOIN checkpoints c ON c.number = t.checkpoint
            WHERE e.number >= ? AND e.number < ? AND ({where})
            ORDER BY e.number {"DESC" if descending else "ASC"} LIMIT ?""",  # noqa: S608
        [*numbers, *parameters, limit],
    )
    return [_ledger_event(row) for row in rows]


def _number(state: State, position: EventPosition) -> int:
    """The number of the first row that is not before a position."""
    row = state.row(
        "SELECT first_transaction FROM checkpoints WHERE number = ?",
        (min(position.checkpoint, _BEHIND_ALL),),
    )
    if row is None:  # behind the last checkpoint, and so behind every event
        return _BEHIND_ALL
    transaction: int = row[0] + position.transaction
    return min((transaction << PLACE_BITS) + position.event, _BEHIND_ALL)


def _ledger_event(row: tuple[Any, ...]) -> LedgerEvent:
    number, checkpoint, first_transaction, digest, timestamp_ms = row[8:]
    transaction, place = number >> PLACE_BITS, number & (1 << PLACE_BITS) - 1
    position = EventPosition(checkpoint, transaction - first_transaction, place)
    return LedgerEvent(position, Digest(digest), timestamp_ms, _event(row))


def _event(row: tuple[Any, ...]) -> Event:
    package, module, sender, address, type_module, name, params, contents = row[:8]
    tag = StructTag(Address(address), type_module, name, TYPE_PARAMS.decode(params))
    return Event(Address(package), module, Address(sender), tag, contents)
