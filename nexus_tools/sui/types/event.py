"""Events that Move code emits, and the event streams that the chain commits to.

The chain commits to the ordered list of a stream's events. The head of a stream is a dynamic field
of the accumulator root 0xacc. At each checkpoint, the Merkle root of the checkpoint's events is
added to the head. Source: `sui-types/src/{event,accumulator_root}.rs`, `merkle.rs` of `fastcrypto`.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, byte_vector, string, struct, u64, vector
from nexus_tools.sui.types.address import ADDRESS, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import DIGEST, DIGEST_LENGTH, Digest, blake2b256
from nexus_tools.sui.types.type_tag import STRUCT_TAG, StructTag


class Event(Struct, frozen=True):
    """An event that a module emitted. `contents` are the BCS bytes of the event's struct."""

    package: Address
    module: str
    sender: Address
    type: StructTag
    contents: bytes


EVENT: Codec[Event] = struct(Event, ADDRESS, string, ADDRESS, STRUCT_TAG, byte_vector)
EVENTS: Codec[tuple[Event, ...]] = vector(EVENT)

# --- Streams

EVENT_STREAM_HEAD = StructTag(SUI_FRAMEWORK, "accumulator_settlement", "EventStreamHead")
"""The type of stream heads. `accumulator_id` computes a head's ID from this type."""

_LEAF, _INNER = b"\0", b"\1"
_EMPTY = bytes(DIGEST_LENGTH)


class EventCommitment(Struct, frozen=True):
    """The commitment to an event: its checkpoint, transaction index, event index and digest."""

    checkpoint: int
    transaction: int
    event: int
    digest: Digest


_COMMITMENT: Codec[EventCommitment] = struct(EventCommitment, u64, u64, u64, DIGEST)


def event_digest(event: Event) -> Digest:
    """Return the digest of an event in a stream: the hash of its BCS bytes without a prefix."""
    return Digest(blake2b256(EVENT.encode(event)))


def merkle_root(commitments: Iterable[EventCommitment]) -> bytes:
    """Return the Merkle root of a checkpoint's event commitments, in their order on the chain."""
    level = [blake2b256(_LEAF, _COMMITMENT.encode(commitment)) for commitment in commitments]
    while len(level) > 1:
        if len(level) % 2:
            level.append(_EMPTY)
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [blake2b256(_INNER, left, right) for left, right in pairs]
    return level[0] if level else _EMPTY
