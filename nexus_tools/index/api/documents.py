"""The documents of the API.

Every document about the index has the checkpoint of its data, and the checkpoint since which the
index is complete. Names, descriptions and URLs are untrusted texts. Times are in ms since 1970, and
amounts in MIST.
"""

from typing import Any, Generic, TypeVar

import msgspec

from nexus_tools.index.queries.records import DayStats, IndexedTool
from nexus_tools.sui.types.address import Address

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Items at a checkpoint. Pass `next` as `after` to read the next page.

    `next` is null on the last page. With a filter, a page may be short or empty and still have a
    next page.
    """

    items: tuple[T, ...]
    next: str | None
    checkpoint: int
    complete_since: int


class Item(msgspec.Struct, Generic[T], frozen=True):
    """One item at a checkpoint."""

    item: T
    checkpoint: int
    complete_since: int


class ListedTool(IndexedTool, frozen=True):
    """A tool in a list. A search result has the reason why the tool matches the query."""

    reason: str | None = None


class ToolPage(msgspec.Struct, frozen=True):
    """A page of tools.

    `fits` is false if no tool seems to fit the words of a search. The tools are then only the
    closest ones. `notes` say what the search could not use.
    """

    items: tuple[ListedTool, ...]
    next: str | None
    checkpoint: int
    complete_since: int
    fits: bool = True
    notes: tuple[str, ...] = ()


class Stats(msgspec.Struct, frozen=True):
    """The closings of all tools per day, newest first. Days without closings are omitted."""

    days: tuple[DayStats, ...]
    checkpoint: int
    complete_since: int


# --- Events of the stream


class Event(msgspec.Struct, frozen=True, tag_field="type"):
    """An event of the stream."""

    seq: int
    checkpoint: int


class ToolRegisteredEvent(Event, frozen=True, tag="tool_registered"):
    """A new tool."""

    tool: Address
    fqn: str
    owner: Address
    price_mist: int


class InvocationRequestedEvent(Event, frozen=True, tag="invocation_requested"):
    """A new invocation. `fqn` is null if the tool's registration is older than the index."""

    invocation: Address
    tool: Address
    fqn: str | None
    requester: Address
    leaders: tuple[Address, ...]
    execution: Address | None
    requested_at_ms: int
    expires_at_ms: int
    payment_mist: int


class InvocationClosedEvent(Event, frozen=True, tag="invocation_closed"):
    """A closed invocation. `fqn` is null if the tool's registration is older than the index."""

    invocation: Address
    tool: Address
    fqn: str | None
    requester: Address
    leader: Address | None
    outcome: str
    closed_at_ms: int
    latency_ms: int | None
    price_mist: int


class LeaderRegisteredEvent(Event, frozen=True, tag="leader_registered"):
    """A new leader."""

    leader: Address
    name: str
    owner: Address


class LeaderActivityEvent(Event, frozen=True, tag="leader_activity_changed"):
    """A leader that started or stopped accepting invocations."""

    leader: Address
    is_accepting: bool


class RolledBackEvent(Event, frozen=True, tag="rolled_back"):
    """A rollback of the chain: events that the client received may not exist anymore.

    Read the lists again. The stream continues with later events.
    """


FeedEvent = (
    ToolRegisteredEvent
    | InvocationRequestedEvent
    | InvocationClosedEvent
    | LeaderRegisteredEvent
    | LeaderActivityEvent
    | RolledBackEvent
)


# --- JSON


def encode(document: Any) -> bytes:
    """Return a document as JSON."""
    return _ENCODER.encode(document)


_ENCODER = msgspec.json.Encoder(enc_hook=str)
ADDRESS_SCHEMA = {"type": "string", "pattern": "^0x[0-9a-f]{64}$"}


def address_schema(kind: type) -> dict[str, Any]:
    """Return the JSON schema of an address, the only type that msgspec does not know."""
    assert kind is Address
    return ADDRESS_SCHEMA


def parse_address(kind: type, value: Any) -> Any:
    """Parse a whole address. Raises `address_invalid`."""
    assert kind is Address
    return Address.parse_whole(value)
