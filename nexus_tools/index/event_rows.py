"""The event rows of an index: which events it stores, and how."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from nexus_tools.contracts import Deployment, RegistryEvent, parse_event
from nexus_tools.contracts.move_bindings import collateral, leader, owner, tool
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationDeleted,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows import cleaning, dag, execution, schedule
from nexus_tools.errors import ValidationError
from nexus_tools.index.addresses import AddressNumbers
from nexus_tools.index.outcomes import CODES, SETTLED, code_of
from nexus_tools.sui.client import EventRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import parse_struct_tag

_SUBJECTS: dict[type[RegistryEvent], str] = {
    tool.ToolRegistered: "tool",
    tool.ToolUpdated: "tool",
    tool.ToolLeaderChanged: "tool",
    tool.ToolAcceptsAnyLeader: "tool",
    tool.ToolTakenOver: "tool",
    leader.LeaderRegistered: "leader",
    leader.LeaderActivityChanged: "leader",
    collateral.CollateralLocked: "object",
    collateral.Unregistered: "object",
    collateral.UnregistrationCancelled: "object",
    collateral.CollateralClaimed: "object",
    collateral.CollateralToppedUp: "object",
    collateral.Slashed: "object",
    owner.OwnershipAccepted: "object",
    dag.DagPublished: "dag",
    execution.ExecutionStarted: "execution",
    execution.ExecutionStopped: "execution",
    execution.ExecutionEnded: "execution",
    cleaning.ExecutionDeleted: "execution",
    schedule.ScheduleCreated: "schedule",
    schedule.ScheduleTriggered: "schedule",
    schedule.ScheduleCollected: "schedule",
    schedule.ScheduleActivityChanged: "schedule",
    schedule.ScheduleCursorReset: "schedule",
    schedule.ScheduleExtended: "schedule",
    schedule.ScheduleRefilled: "schedule",
    schedule.ScheduleCancelled: "schedule",
    schedule.ScheduleDeleted: "schedule",
}
"""The events that are stored in BCS, with the field of the object that they change."""

_KINDS = {kind.move_name: kind for kind in _SUBJECTS}

_Closed = InvocationSettled | InvocationFailed | InvocationExpired
_MAX_INTEGER = 2**63 - 1


class StateEvent(Struct, frozen=True):
    """A stored event that changes the state of an object."""

    seq: int
    checkpoint: int
    subject: int
    event: RegistryEvent


class Closing(Struct, frozen=True):
    """A row of `closings`. See `schema`."""

    seq: int
    checkpoint: int
    request: int | None
    invocation: bytes | None
    tool: int
    requester: int
    leader: int | None
    missed: int | None
    also_missed: int | None
    outcome: int
    is_open: int
    at_ms: int
    latency_ms: int | None
    price_mist: int
    fee_mist: int
    refund_mist: int


_Request = tuple[int, int, int, int | None, int | None]
"""The seq, the time, `is_open`, and the leaders of a request."""
_Row = tuple[object, ...]


def limited(value: int) -> int:
    """Return a number, or the largest one that SQLite stores. Anyone can emit a larger one."""
    return min(value, _MAX_INTEGER)


class EventRows:
    """The event rows of an index. `newest_ms` is the time of the newest event that has a time."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        deployment: Deployment,
        numbers: AddressNumbers,
        *,
        last_seq: int,
        newest_ms: int,
    ) -> None:
        self._connection = connection
        self._deployment = deployment
        self._numbers = numbers
        self.last_seq = last_seq
        self.newest_ms = newest_ms
        self._new_requests: dict[Address, _Request] = {}
        self._new_rows: dict[str, list[_Row]] = {}

    def append(
        self, records: Iterable[EventRecord], apply: Callable[[StateEvent], None]
    ) -> list[Closing]:
        """Append the rows of events, and return the new closings.

        `apply` is called with each state event in its order among the events, because it gives
        numbers to addresses.
        """
        closings: list[Closing] = []
        self._new_requests.clear()
        self._new_rows.clear()
        for record in records:
            match self._parse(record.event):
                case None:
                    self._append_unknown(record)
                case InvocationRequested() as event:
                    self._append_request(record, event)
                case InvocationSettled() | InvocationFailed() | InvocationExpired() as event:
                    closings.append(self._append_closing(record, event))
                case InvocationDeleted() as event:
                    self._append_deletion(record, event)
                case event if type(event) in _SUBJECTS:
                    contents = record.event.contents
                    apply(self._insert_state(self._next_seq(), record.checkpoint, event, contents))
        for table, rows in self._new_rows.items():
            self._connection.executemany(_insertion(table, len(rows[0])), rows)
        return closings

    def _parse(self, event: Event) -> RegistryEvent | None:
        try:
            return parse_event(self._deployment, event)
        except ValidationError:
            return None

    def _next_seq(self) -> int:
        self.last_seq += 1
        return self.last_seq

    def _append_unknown(self, record: EventRecord) -> None:
        event = record.event
        self._insert(
            "unknown_events",
            self._next_seq(),
            *record.cursor.position,
            str(event.type),
            bytes(event.sender),
            event.contents,
        )

    def _insert_state(
        self, seq: int, checkpoint: int, event: RegistryEvent, contents: bytes
    ) -> StateEvent:
        subject_id = getattr(event, _SUBJECTS[type(event)])
        subject = self._numbers.number(subject_id, checkpoint)
        self._insert("events", seq, checkpoint, subject, event.move_name, contents)
        return StateEvent(seq, checkpoint, subject, event)

    # --- Invocations

    def _append_request(self, record: EventRecord, event: InvocationRequested) -> None:
        def number(address: Address | None) -> int | None:
            return None if address is None else self._numbers.number(address, record.checkpoint)

        self.newest_ms = max(self.newest_ms, event.requested_at_ms)
        leader, backup, *_ = *(number(item) for item in event.leaders), None, None
        attempt = event.attempt
        seq, is_open = self._next_seq(), int(event.is_closable_by_anyone)
        self._add(
            "requests",
            seq,
            record.checkpoint,
            bytes(event.invocation),
            number(event.tool),
            number(event.requester),
            *(leader, backup),
            event.requested_at_ms,
            limited(event.expires_at_ms - event.requested_at_ms),
            limited(event.price_mist),
            limited(event.payment_mist),
            number(None if attempt is None else attempt.execution),
            is_open,
        )
        self._new_requests[event.invocation] = seq, event.requested_at_ms, is_open, leader, backup

    def _append_closing(self, record: EventRecord, event: _Closed) -> Closing:
        def number(address: Address) -> int:
            return self._numbers.number(address, record.checkpoint)

        request = self._request(event.invocation)
        seq, requested_at_ms, is_open, *named = request or (None, None, 0)
        leader_number = None
        missed: Sequence[int | None]
        if isinstance(event, InvocationExpired):
            outcome, at_ms, fee_mist = CODES["expired"], self.newest_ms, 0
            missed = [number(item) for item in event.leaders]
        else:
            leader_number = number(event.leader)
            fee_mist = event.fee_mist
            missed = named[: named.index(leader_number)] if leader_number in named else []
            if isinstance(event, InvocationSettled):
                outcome, at_ms = CODES[SETTLED], event.settled_at_ms
            else:
                outcome, at_ms = code_of(event.reason), event.failed_at_ms
        self.newest_ms = max(self.newest_ms, at_ms)
        is_settled = isinstance(event, InvocationSettled)
        closing = Closing(
            self._next_seq(),
            record.checkpoint,
            seq,
            None if request else bytes(event.invocation),
            number(event.tool),
            number(event.requester),
            leader_number,
            missed[0] if missed else None,
            missed[1] if len(missed) > 1 else None,
            outcome,
            is_open,
            at_ms,
            at_ms - requested_at_ms if is_settled and requested_at_ms is not None else None,
            limited(event.price_mist) if isinstance(event, InvocationSettled) else 0,
            limited(fee_mist),
            limited(event.refund_mist),
        )
        self._add("closings", *astuple(closing))
        return closing

    def _append_deletion(self, record: EventRecord, event: InvocationDeleted) -> None:
        request = self._request(event.invocation)
        if request is not None:
            self._add("deletions", self._next_seq(), record.checkpoint, request[0])

    def _request(self, invocation: Address) -> _Request | None:
        """Return a request, or None if the node pruned it."""
        if invocation in self._new_requests:
            return self._new_requests[invocation]
        row: _Request | None = self._connection.execute(
            "SELECT seq, requested_at_ms, is_open, leader, backup FROM requests"
            " WHERE substr(invocation, 1, 8) = ? AND invocation = ?",
            (bytes(invocation)[:8], bytes(invocation)),
        ).fetchone()
        return row

    def _insert(self, table: str, *values: object) -> None:
        self._connection.execute(_insertion(table, len(values)), values)

    def _add(self, table: str, *values: object) -> None:
        """Add a row for the end of `append`, which inserts the rows of each table at once."""
        self._new_rows.setdefault(table, []).append(values)

    # --- Events of newer versions

    def recognize(self) -> bool:
        """Move the unknown events that this version knows to `events`.

        Return whether any event was moved. The state must then be derived again.
        """
        rows = self._connection.execute("SELECT DISTINCT type FROM unknown_events").fetchall()
        recognized = [self._recognize(name) for (name,) in rows if _is_known(name)]
        return any(recognized)

    def _recognize(self, name: str) -> bool:
        kind = parse_struct_tag(name)
        number = 0
        for seq, checkpoint, sender, contents in self._connection.execute(
            "SELECT seq, checkpoint, sender, contents FROM unknown_events WHERE type = ?", (name,)
        ).fetchall():
            raw = Event(kind.address, kind.module, Address(sender), kind, contents)
            event = self._parse(raw)
            if event is not None:
                self._insert_state(seq, checkpoint, event, contents)
                self._connection.execute("DELETE FROM unknown_events WHERE seq = ?", (seq,))
                number += 1
        return number > 0


def _insertion(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - constant names


def _is_known(name: str) -> bool:
    kind = parse_struct_tag(name)
    return f"{kind.module}::{kind.name}" in _KINDS


def stored_state_events(connection: sqlite3.Connection) -> Iterable[StateEvent]:
    """Yield all stored events that change states, in order."""
    for seq, checkpoint, subject, kind, contents in connection.execute(
        "SELECT seq, checkpoint, subject, kind, contents FROM events ORDER BY seq"
    ):
        yield StateEvent(seq, checkpoint, subject, _KINDS[kind].bcs.decode(contents))


def stored_closings(connection: sqlite3.Connection) -> Iterable[Closing]:
    """Yield all rows of `closings`, in order."""
    columns = ", ".join(Closing.__struct_fields__)
    for row in connection.execute(f"SELECT {columns} FROM closings ORDER BY seq"):  # noqa: S608 - constant names
        yield Closing(*row)
