"""The events of an index, in the order of their rows, for streams.

The ID of an event is the number of its row and a digest of its contents, such as `17-3f5a…`. The ID
of a position without an event has no digest: `17-`. After a rollback, other
events get the numbers of removed ones. The digest shows this, and the client receives the event
`rolled_back`.
"""

import sqlite3
from collections.abc import Iterator
from hashlib import blake2b

from msgspec import Struct

from nexus_tools.contracts.move_bindings.leader import LeaderActivityChanged, LeaderRegistered
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.errors import ValidationError
from nexus_tools.index.api.documents import (
    FeedEvent,
    InvocationClosedEvent,
    InvocationRequestedEvent,
    LeaderActivityEvent,
    LeaderRegisteredEvent,
    RolledBackEvent,
    ToolRegisteredEvent,
    encode,
)
from nexus_tools.index.api.source import IndexSource
from nexus_tools.index.index_file import invalid_error
from nexus_tools.index.outcomes import OUTCOMES
from nexus_tools.sui.types.address import Address

BATCH_ROWS = 500
"""The number of rows of the index that one batch covers, which bounds its memory."""

_KINDS = {
    kind.move_name: kind for kind in (ToolRegistered, LeaderRegistered, LeaderActivityChanged)
}
_REQUESTS = """
    SELECT r.seq, r.checkpoint, r.invocation, tool_ids.address, tools.fqn, requesters.address,
        leaders.address, backups.address, executions.address, r.requested_at_ms,
        r.requested_at_ms + r.expires_after_ms, r.payment_mist
    FROM requests AS r
    JOIN addresses AS tool_ids ON tool_ids.id = r.tool LEFT JOIN tools ON tools.id = r.tool
    JOIN addresses AS requesters ON requesters.id = r.requester
    LEFT JOIN addresses AS leaders ON leaders.id = r.leader
    LEFT JOIN addresses AS backups ON backups.id = r.backup
    LEFT JOIN addresses AS executions ON executions.id = r.execution
    WHERE r.seq > ? AND r.seq <= ?
"""
_CLOSINGS = """
    SELECT c.seq, c.checkpoint, coalesce(c.invocation, r.invocation), tool_ids.address, tools.fqn,
        requesters.address, leaders.address, c.outcome, c.at_ms, c.latency_ms, c.price_mist
    FROM closings AS c LEFT JOIN requests AS r ON r.seq = c.request
    JOIN addresses AS tool_ids ON tool_ids.id = c.tool LEFT JOIN tools ON tools.id = c.tool
    JOIN addresses AS requesters ON requesters.id = c.requester
    LEFT JOIN addresses AS leaders ON leaders.id = c.leader
    WHERE c.seq > ? AND c.seq <= ?
"""
_EVENTS = (
    "SELECT seq, checkpoint, kind, contents FROM events WHERE seq > ? AND seq <= ?"  # noqa: S608 - only marks
    f" AND kind IN ({', '.join('?' * len(_KINDS))})"
)


class Position(Struct):
    """The position of a stream: the last row that it covers, and the ID of its last event."""

    seq: int
    last_id: str | None = None
    version: bytes = b""

    @property
    def event_id(self) -> str:
        """The ID after which a client resumes here."""
        return self.last_id or f"{self.seq}-"


class Feed:
    """The events of an index."""

    def __init__(self, source: IndexSource) -> None:
        self._source = source

    def position(self, event_id: str | None) -> Position:
        """Return the position after an event, at the beginning for `0`, or at the end for None.

        Raises `cursor_invalid`.
        """
        if event_id is None:
            return Position(self._source.state().last_seq)
        seq, separator, digest = event_id.partition("-")
        if not (seq.isascii() and seq.isdecimal() and len(seq) < 19) or (
            not separator and event_id != "0"
        ):
            raise ValidationError(
                "cursor_invalid",
                "`since` is not the ID of an event",
                hint="Pass the ID of an event, or 0 for all events.",
            )
        return Position(int(seq), event_id if digest else None)

    def read(self, position: Position) -> list[tuple[str, FeedEvent]] | None:
        """Return the next events with their IDs, and move the position behind them.

        Return None if the position is at the end. A batch may be empty before the end.
        """
        state = self._source.state()
        if state.version == position.version:
            return None
        try:
            return self._read(position, state.last_seq, state.version)
        except sqlite3.Error as error:
            raise invalid_error(self._source.path, error) from error

    def _read(
        self, position: Position, last_seq: int, version: bytes
    ) -> list[tuple[str, FeedEvent]] | None:
        if not self._exists(position, last_seq):
            checkpoint = self._source.state().checkpoint
            position.seq, position.last_id = last_seq, None
            return [(position.event_id, RolledBackEvent(last_seq, checkpoint))]
        if position.seq >= last_seq:
            position.version = version
            return None
        end = min(position.seq + BATCH_ROWS, last_seq)
        events = [(_event_id(event), event) for event in self._events(position.seq, end)]
        position.seq = end
        if events:
            position.last_id = events[-1][0]
        return events

    def _exists(self, position: Position, last_seq: int) -> bool:
        """Return whether the last event of a position still exists."""
        if position.seq > last_seq:
            return False
        if position.last_id is None:
            return True
        seq = int(position.last_id.partition("-")[0])
        return any(_event_id(event) == position.last_id for event in self._events(seq - 1, seq))

    def _events(self, after: int, end: int) -> list[FeedEvent]:
        connection = self._source.connection
        events = [
            *_requests(connection, after, end),
            *_closings(connection, after, end),
            *_state_events(connection, after, end),
        ]
        return sorted(events, key=lambda event: event.seq)


def _requests(connection: sqlite3.Connection, after: int, end: int) -> Iterator[FeedEvent]:
    for seq, checkpoint, invocation, tool, fqn, requester, *rest in connection.execute(
        _REQUESTS, (after, end)
    ):
        leader, backup, execution, *terms = rest
        yield InvocationRequestedEvent(
            seq,
            checkpoint,
            Address(invocation),
            Address(tool),
            fqn,
            Address(requester),
            tuple(Address(item) for item in (leader, backup) if item is not None),
            None if execution is None else Address(execution),
            *terms,
        )


def _closings(connection: sqlite3.Connection, after: int, end: int) -> Iterator[FeedEvent]:
    for seq, checkpoint, invocation, tool, fqn, requester, leader, *rest in connection.execute(
        _CLOSINGS, (after, end)
    ):
        outcome, at_ms, latency_ms, price_mist = rest
        yield InvocationClosedEvent(
            seq,
            checkpoint,
            Address(invocation),
            Address(tool),
            fqn,
            Address(requester),
            None if leader is None else Address(leader),
            OUTCOMES[outcome],
            at_ms,
            latency_ms,
            price_mist,
        )


def _state_events(connection: sqlite3.Connection, after: int, end: int) -> Iterator[FeedEvent]:
    for seq, checkpoint, kind, contents in connection.execute(_EVENTS, (after, end, *_KINDS)):
        match _KINDS[kind].bcs.decode(contents):
            case ToolRegistered() as event:
                yield ToolRegisteredEvent(
                    *(seq, checkpoint, event.tool, event.fqn, event.owner, event.price_mist)
                )
            case LeaderRegistered() as event:
                yield LeaderRegisteredEvent(seq, checkpoint, event.leader, event.name, event.owner)
            case LeaderActivityChanged() as event:
                yield LeaderActivityEvent(seq, checkpoint, event.leader, event.active)


def _event_id(event: FeedEvent) -> str:
    return f"{event.seq}-{blake2b(encode(event), digest_size=6).hexdigest()}"
