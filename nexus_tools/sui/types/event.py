"""Events: what Move code says to the world outside, and the streams of authenticated events.

To the events of a stream the chain commits in their order: the head of a stream, a dynamic field of
the accumulator root 0xacc, takes in the Merkle root of each checkpoint's events. Source:
`sui-types/src/{event,accumulator_root}.rs`, `merkle.rs` of `fastcrypto`.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, byte_vector, string, struct, u64, vector
from nexus_tools.sui.types.address import ADDRESS, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import DIGEST, DIGEST_LENGTH, Digest, blake2b256
from nexus_tools.sui.types.type_tag import STRUCT_TAG, StructTag


class Event(Struct, frozen=True):
    """One event; `package` and `module` are where it was emitted, `contents` its BCS bytes."""

    package: Address
    module: str
    sender: Address
    type: StructTag
    contents: bytes


EVENT: Codec[Event] = struct(Event, ADDRESS, string, ADDRESS, STRUCT_TAG, byte_vector)
EVENTS: Codec[tuple[Event, ...]] = vector(EVENT)

# --- Streams

EVENT_STREAM_HEAD = StructTag(SUI_FRAMEWORK, "accumulator_settlement", "EventStreamHead")
"""The type of the heads; with it `accumulator_id` gives the id of a stream's field."""

_LEAF, _INNER = b"\0", b"\1"
_EMPTY = bytes(DIGEST_LENGTH)


class EventCommitment(Struct, frozen=True):
    """An event by its checkpoint, the transaction's index in it, and its index in that."""

    checkpoint: int
    transaction: int
    event: int
    digest: Digest


_COMMITMENT: Codec[EventCommitment] = struct(EventCommitment, u64, u64, u64, DIGEST)


def event_digest(event: Event) -> Digest:
    """What a stream commits to of an event: the hash of its BCS bytes alone."""
    return Digest(blake2b256(EVENT.encode(event)))


def merkle_root(commitments: Iterable[EventCommitment]) -> bytes:
    """The root of the tree of one checkpoint's commitments, which are in their order."""
    level = [blake2b256(_LEAF, _COMMITMENT.encode(commitment)) for commitment in commitments]
    while len(level) > 1:
        if len(level) % 2:
            level.append(_EMPTY)
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [blake2b256(_INNER, left, right) for left, right in pairs]
    return level[0] if level else _EMPTY
