"""What effects say of authenticated events: for each stream, which events it takes in.

Source: `AccumulatorWriteV1::merge` in `sui-types/src/effects/object_change.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nexus_tools.localnet.natives import StreamedEvent
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import AccumulatorEvents, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.event import Event
from nexus_tools.sui.event_stream import event_digest
from nexus_tools.sui.type_tag import TypeTag


def stream_changes(
    streamed: Iterable[StreamedEvent], events: Sequence[Event]
) -> tuple[AccumulatorWrite, ...]:
    """One change for each stream; `events` are all of the transaction."""
    streams: defaultdict[tuple[Address, TypeTag], list[tuple[int, Digest]]] = defaultdict(list)
    for event in streamed:
        digest = event_digest(events[event.number])
        streams[event.stream, event.head].append((event.number, digest))
    return tuple(
        AccumulatorWrite(*stream, AccumulatorOperation.MERGE, AccumulatorEvents(tuple(digests)))
        for stream, digests in streams.items()
    )
