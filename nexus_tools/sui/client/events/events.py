"""What the following of events is about: filters, cursors and records."""

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
"""A place behind every transaction of a checkpoint and every event of a transaction."""

Position = tuple[int, int, int]


class EventFilter(Struct, frozen=True):
    """Events whose type was first defined in `package` and, where given, in one of `modules`.

    With `names`, their struct has one of these names, too. An upgraded package still counts under
    its original id. What `a | b` lets pass is what one of them does.
    """

    package: Address
    modules: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    others: "tuple[EventFilter, ...]" = ()

    def __post_init__(self) -> None:
        if self.names and not self.modules:
            raise ValidationError(
                "event_filter_invalid", "names of events are looked for in modules: name those, too"
            )

    def __or__(self, other: "EventFilter") -> "EventFilter":
        """The filter that lets pass what one of both does."""
        return replace(self, others=(*self.others, other))

    def matches(self, event: Event) -> bool:
        """Whether an event passes."""
        return self._matches(event) or any(each.matches(event) for each in self.others)

    def _matches(self, event: Event) -> bool:
        return (
            event.type.address == self.package
            and (not self.modules or event.type.module in self.modules)
            and (not self.names or event.type.name in self.names)
        )

    def message(self) -> dict[str, Any]:
        """The filter as the node wants it: one alternative for each type."""
        types = [name for each in (self, *self.others) for name in each.types()]
        return {"terms": [{"literals": [{"event_type": {"event_type": name}}]} for name in types]}

    def types(self) -> list[str]:
        """What types its own events have: names of packages, modules or types."""
        types = [str(self.package)]
        if self.modules:
            types = [f"{self.package}::{module}" for module in self.modules]
        if self.names:
            types = [f"{prefix}::{name}" for prefix in types for name in self.names]
        return types


class Mark(Struct, frozen=True):
    """What was on the chain at a place: a transaction, or a whole checkpoint, by its digest."""

    checkpoint: int
    transaction: int
    digest: Digest

    @classmethod
    def of_checkpoint(cls, checkpoint: int, digest: Digest) -> "Mark":
        """The mark behind the last transaction of a checkpoint."""
        return cls(checkpoint, _LAST, digest)

    @property
    def is_checkpoint(self) -> bool:
        """Whether the digest is of the whole checkpoint, and so of all before it, too."""
        return self.transaction == _LAST


class Cursor(Struct, frozen=True):
    """How far events were followed: up to and including this place.

    `token` is the node's own cursor, which only makes resuming faster: the place is good at every
    node of the chain. `mark` is the last thing known on the way there: with it, whoever goes on
    from here notices that the chain has been set back since, however long ago that was.
    """

    checkpoint: int
    transaction: int
    event: int
    token: bytes | None = None
    mark: Mark | None = None

    @classmethod
    def beginning(cls) -> "Cursor":
        """The place before the first event of the chain."""
        return cls(0, -1, -1)

    @classmethod
    def after_checkpoint(
        cls, checkpoint: int, token: bytes | None = None, mark: Mark | None = None
    ) -> "Cursor":
        """The place behind the last event of a checkpoint."""
        return cls(checkpoint, _LAST, _LAST, token, mark)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Read what `str()` gave. Raises `cursor_invalid`."""
        try:
            *place, token, mark = json.loads(text)
            checkpoint, transaction, event = map(int, place)
            raw = None if token is None else b64decode(token, validate=True)
            return cls(checkpoint, transaction, event, raw, None if mark is None else _mark(*mark))
        except (ValueError, TypeError, NexusError):
            raise ValidationError("cursor_invalid", f"{text[:80]!r} is not a cursor") from None

    def __str__(self) -> str:
        token = None if self.token is None else b64encode(self.token).decode()
        mark = self.mark and (self.mark.checkpoint, self.mark.transaction, str(self.mark.digest))
        return json.dumps([*self.position, token, mark], separators=(",", ":"))

    @property
    def position(self) -> Position:
        """The place as numbers that grow with every event."""
        return self.checkpoint, self.transaction, self.event

    def without_token(self) -> "Cursor":
        """The same place, for a node that does not know the token."""
        return replace(self, token=None)

    def at_mark(self) -> "Cursor":
        """The place from which to go on: this one, or that of the mark if that is earlier.

        No event that matches was between them; if there is one now, it is new.
        """
        if self.mark is None:
            return self
        marked = self.mark.checkpoint, self.mark.transaction, _LAST
        return self if self.position <= marked else Cursor(*marked, mark=self.mark)


def _mark(checkpoint: int, transaction: int, digest: str) -> Mark:
    return Mark(int(checkpoint), int(transaction), Digest.parse(digest))


class EventRecord(Struct, frozen=True):
    """An event where it stands on the chain. `timestamp_ms` is None unless it was asked for."""

    cursor: Cursor
    event: Event
    checkpoint: int
    transaction_digest: Digest
    event_index: int
    timestamp_ms: int | None = None


class Progress(Struct, frozen=True):
    """No event that matches came up to this place: keep the cursor."""

    cursor: Cursor


Item = EventRecord | Progress
"""What following events gives."""


# Events come by the thousand, of a handful of types.
_event_type = lru_cache(256)(parse_struct_tag)


def record_of(message: Any, token: bytes | None) -> EventRecord:
    """Read an `Event` message with all fields but `json`."""
    place = message.checkpoint, message.transaction_index, message.event_index
    event = Event(
        Address.parse(message.package_id),
        message.module,
        Address.parse(message.sender),
        _event_type(message.event_type),
        message.contents.value,
    )
    digest = Digest.parse(message.transaction_digest)
    return EventRecord(Cursor(*place, token), event, place[0], digest, place[2])
