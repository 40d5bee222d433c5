"""The events of the whole chain in order, and filters for them.

A filter is a disjunction of conjunctions of predicates, each possibly negated: `EventFilter` of
`sui.rpc.v2`. It is applied to an event in memory (`matches`) or used as a condition in the database
(`select_events`).
"""

from typing import Any, NamedTuple

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, vector
from nexus_tools.sui.localnet.ledger.database import INDEX_BITS, State
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import TYPE_TAG, StructTag, TypeTag

TYPE_PARAMS: Codec[tuple[TypeTag, ...]] = vector(TYPE_TAG)

# --- Filters

Condition = tuple[str, list[Any]]
"""A condition on a row of `events`, and its parameters."""


class SentBy(Struct, frozen=True):
    """Events of transactions from this sender."""

    sender: Address

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return event.sender == self.sender

    def condition(self) -> Condition:
        """Return the predicate as a condition in the database."""
        return "sender = ?", [self.sender]


class EmittedBy(Struct, frozen=True):
    """Events that were emitted in this module, or anywhere in the package."""

    package: Address
    module: str | None = None

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return event.package == self.package and self.module in (None, event.module)

    def condition(self) -> Condition:
        """Return the predicate as a condition in the database."""
        return _all_equal({"package": self.package, "module": self.module})


class HasType(Struct, frozen=True):
    """Events of a type; parts that are None, from the right, match anything.

    `type_params` names exactly one instantiation, also if it is `()`.
    """

    address: Address
    module: str | None = None
    name: str | None = None
    type_params: tuple[TypeTag, ...] | None = None

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        tag = event.type
        return (
            tag.address == self.address
            and self.module in (None, tag.module)
            and self.name in (None, tag.name)
            and self.type_params in (None, tag.type_params)
        )

    def condition(self) -> Condition:
        """Return the predicate as a condition in the database."""
        params = None if self.type_params is None else TYPE_PARAMS.encode(self.type_params)
        return _all_equal(
            {
                "type_address": self.address,
                "type_module": self.module,
                "type_name": self.name,
                "type_params": params,
            }
        )


class EventLiteral(Struct, frozen=True):
    """A predicate, or its negation."""

    predicate: SentBy | EmittedBy | HasType
    negated: bool = False

    def matches(self, event: Event) -> bool:
        """Return whether the event matches."""
        return self.predicate.matches(event) != self.negated

    def condition(self) -> Condition:
        """Return the literal as a condition in the database."""
        text, parameters = self.predicate.condition()
        return f"{'NOT ' if self.negated else ''}({text})", parameters


EventFilter = tuple[tuple[EventLiteral, ...], ...]
"""Terms: an event passes if all literals of one term match it."""


def matches(event_filter: EventFilter | None, event: Event) -> bool:
    """Return whether an event passes the filter; without a filter every event does."""
    if event_filter is None:
        return True
    return any(all(literal.matches(event) for literal in term) for term in event_filter)


def condition(event_filter: EventFilter | None) -> Condition:
    """Return the filter as a condition on a row of `events`."""
    if event_filter is None:
        return "1", []
    terms, parameters = [], []
    for term in event_filter:
        parts = [literal.condition() for literal in term]
        terms.append(" AND ".join(text for text, _ in parts) or "1")
        parameters += [value for _, values in parts for value in values]
    return " OR ".join(f"({term})" for term in terms) or "0", parameters


def _all_equal(columns: dict[str, Any]) -> Condition:
    conditions = {name: value for name, value in columns.items() if value is not None}
    return " AND ".join(f"{name} = ?" for name in conditions), list(conditions.values())


# --- The database

_EVENT = """package, module, e.sender, type_address, type_module, type_name, type_params,
    e.contents"""
_AFTER_ALL = 2**63 - 1  # the largest number that SQLite knows


class EventPosition(NamedTuple):
    """The position of an event, counted from 0. Positions compare in the order of the chain."""

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
    """Append the events of the transaction with this number. Call it only inside a commit."""
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
    """Delete the events of this and all later transactions. Call it only inside a commit."""
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
    """Return at most `limit` events from `start` up to, but excluding, `end`."""
    where, parameters = condition(event_filter)
    numbers = [_number(state, start), _number(state, end) if end else _AFTER_ALL]
    rows = state.rows(
        f"""SELECT {_EVENT}, e.number, c.number, c.first_transaction, t.digest, c.timestamp_ms
            FROM events e JOIN transactions t ON t.number = e.number >> {INDEX_BITS}
            JOIN checkpoints c ON c.number = t.checkpoint
            WHERE e.number >= ? AND e.number < ? AND ({where})
            ORDER BY e.number {"DESC" if descending else "ASC"} LIMIT ?""",  # noqa: S608
        [*numbers, *parameters, limit],
    )
    return [_ledger_event(row) for row in rows]


def _number(state: State, position: EventPosition) -> int:
    """Return the number of the first row at or after a position."""
    row = state.row(
        "SELECT first_transaction FROM checkpoints WHERE number = ?",
        (min(position.checkpoint, _AFTER_ALL),),
    )
    if row is None:  # after the last checkpoint, and so after every event
        return _AFTER_ALL
    # A position after the last transaction of a checkpoint, where a page may end, is the first one
    # of the next checkpoint, because numbers continue over the whole chain.
    transaction: int = row[0] + position.transaction
    return min((transaction << INDEX_BITS) + position.event, _AFTER_ALL)


def _ledger_event(row: tuple[Any, ...]) -> LedgerEvent:
    number, checkpoint, first_transaction, digest, timestamp_ms = row[8:]
    transaction, place = number >> INDEX_BITS, number & (1 << INDEX_BITS) - 1
    position = EventPosition(checkpoint, transaction - first_transaction, place)
    return LedgerEvent(position, Digest(digest), timestamp_ms, _event(row))


def _event(row: tuple[Any, ...]) -> Event:
    package, module, sender, address, type_module, name, params, contents = row[:8]
    tag = StructTag(Address(address), type_module, name, TYPE_PARAMS.decode(params))
    return Event(Address(package), module, Address(sender), tag, contents)
