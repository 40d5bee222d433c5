"""The data types for event following: filters, cursors and records."""

import json
from base64 import b64decode, b64encode
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import NexusError, ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import parse_struct_tag

_LAST = 2**63
"""An index that is larger than the index of any transaction or event."""

Position = tuple[int, int, int]


class EventFilter(Struct, frozen=True):
    """A filter for events by the package version that first defined their types.

    If `modules` is not empty, the type must be in one of these modules. If `names` is not empty,
    the struct must have one of these names. An upgrade does not change the package ID in existing
    types. If `sender` is not None, it must have sent the transaction. `a | b` accepts events that
    `a` or `b` accepts.
    """

    package: Address
    modules: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    others: "tuple[EventFilter, ...]" = ()
    sender: Address | None = None

    def __post_init__(self) -> None:
        if self.names and not self.modules:
            raise ValidationError(
                "event_filter_invalid", "expected at least one module for the event names, got none"
            )

    def __or__(self, other: "EventFilter") -> "EventFilter":
        """Return a filter that accepts an event if either filter accepts it."""
        return replace(self, others=(*self.others, other))

    def sent_by(self, sender: Address) -> "EventFilter":
        """Return a filter for the events of this filter from the transactions of one sender."""
        others = tuple(other.sent_by(sender) for other in self.others)
        return replace(self, sender=sender, others=others)

    def matches(self, event: Event) -> bool:
        """Return whether the filter accepts an event."""
        return self._matches(event) or any(other.matches(event) for other in self.others)

    def _matches(self, event: Event) -> bool:
        return (
            event.type.address == self.package
            and (not self.modules or event.type.module in self.modules)
            and (not self.names or event.type.name in self.names)
            and self.sender in (None, event.sender)
        )

    def message(self) -> dict[str, Any]:
        """Return the filter for a request message, with one term for each accepted type."""
        terms = [term for other in (self, *self.others) for term in other.terms()]
        return {"terms": [{"literals": literals} for literals in terms]}

    def terms(self) -> list[list[dict[str, Any]]]:
        """Return the literals of each accepted type, without the types of `others`."""
        sender = [] if self.sender is None else [{"sender": {"address": str(self.sender)}}]
        return [[{"event_type": {"event_type": name}}, *sender] for name in self.types()]

    def types(self) -> list[str]:
        """Return the names of packages, modules or structs that this filter accepts.

        The result does not include the types of `others`.
        """
        types = [str(self.package)]
        if self.modules:
            types = [f"{self.package}::{module}" for module in self.modules]
        if self.names:
            types = [f"{prefix}::{name}" for prefix in types for name in self.names]
        return types


class Mark(Struct, frozen=True):
    """A mark: the position of a transaction or a checkpoint on the chain, and its digest."""

    checkpoint: int
    transaction: int
    digest: Digest

    @classmethod
    def of_checkpoint(cls, checkpoint: int, digest: Digest) -> "Mark":
        """Return the mark at the end of a checkpoint, with the checkpoint's digest."""
        return cls(checkpoint, _LAST, digest)

    @property
    def is_checkpoint(self) -> bool:
        """Whether the digest is that of a checkpoint, which covers all earlier checkpoints."""
        return self.transaction == _LAST


class Cursor(Struct, frozen=True):
    """The position (inclusive) up to which a follower has read events.

    `token` is the node's own cursor. The token only makes resuming faster, because the position
    alone is valid at every node of the chain. `mark` is the last known mark before the position.
    With the mark, a follower that resumes from the cursor detects whether the chain was rolled back
    in the meantime.
    """

    checkpoint: int
    transaction: int
    event: int
    token: bytes | None = None
    mark: Mark | None = None

    @classmethod
    def beginning(cls) -> "Cursor":
        """Return the position before the first event of the chain."""
        return cls(0, -1, -1)

    @classmethod
    def after_checkpoint(
        cls, checkpoint: int, token: bytes | None = None, mark: Mark | None = None
    ) -> "Cursor":
        """Return the position after the last event of a checkpoint."""
        return cls(checkpoint, _LAST, _LAST, token, mark)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Parse the text that `str()` returned for a cursor. Raises `cursor_invalid`."""
        try:
            *position, token, mark = json.loads(text)
            checkpoint, transaction, event = map(int, position)
            raw = None if token is None else b64decode(token, validate=True)
            return cls(checkpoint, transaction, event, raw, None if mark is None else _mark(*mark))
        except (ValueError, TypeError, NexusError):
            raise ValidationError(
                "cursor_invalid", f"{text[:80]!r} is not a valid cursor"
            ) from None

    def __str__(self) -> str:
        token = None if self.token is None else b64encode(self.token).decode()
        mark = self.mark and (self.mark.checkpoint, self.mark.transaction, str(self.mark.digest))
        return json.dumps([*self.position, token, mark], separators=(",", ":"))

    @property
    def position(self) -> Position:
        """The position as a tuple of numbers. Positions of later events are larger."""
        return self.checkpoint, self.transaction, self.event

    def without_token(self) -> "Cursor":
        """Return this cursor without its token, for a node that does not know the token."""
        return replace(self, token=None)

    def at_mark(self) -> "Cursor":
        """Return the cursor from which a follower resumes.

        The result is at the position of this cursor or of the mark, whichever is earlier. No
        matching event was between the two positions, so an event between them proves a change of
        the chain.
        """
        if self.mark is None:
            return self
        marked = self.mark.checkpoint, self.mark.transaction, _LAST
        return self if self.position <= marked else Cursor(*marked, mark=self.mark)


def _mark(checkpoint: int, transaction: int, digest: str) -> Mark:
    return Mark(int(checkpoint), int(transaction), Digest.parse(digest))


class EventRecord(Struct, frozen=True):
    """An event and its position on the chain. `timestamp_ms` is None unless it was requested."""

    cursor: Cursor
    event: Event
    checkpoint: int
    transaction_digest: Digest
    event_index: int
    timestamp_ms: int | None = None


class EventPage(Struct, frozen=True):
    """Events, newest first.

    `next` is None if the page contains the oldest event that the node has. Otherwise, older events
    may exist, and `next` is the position before which the next page starts.
    """

    events: tuple[EventRecord, ...]
    next: Cursor | None


class Progress(Struct, frozen=True):
    """A report that no further event matches up to `cursor`. Store the cursor."""

    cursor: Cursor


Item = EventRecord | Progress
"""An item that a follower yields."""


# Consecutive events have few different types, packages, senders and transactions.
_event_type = lru_cache(256)(parse_struct_tag)
_address = lru_cache(1_024)(Address.parse)
_digest = lru_cache(256)(Digest.parse)


def parse_event_record(message: Any, token: bytes | None) -> EventRecord:
    """Parse an `Event` message that has all fields except `json`."""
    position = message.checkpoint, message.transaction_index, message.event_index
    event = Event(
        _address(message.package_id),
        message.module,
        _address(message.sender),
        _event_type(message.event_type),
        message.contents.value,
    )
    digest = _digest(message.transaction_digest)
    return EventRecord(Cursor(*position, token), event, position[0], digest, position[2])
