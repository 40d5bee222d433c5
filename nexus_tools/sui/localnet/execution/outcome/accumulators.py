"""What effects say of address balances and event streams: one change for each of them.

Commands put money in and take it out as often as they like, and emit events for a stream one after
the other; the effects have the sum of each balance and the list of each stream. Source:
`AccumulatorWriteV1::merge` in `sui-types/src/effects/object_change.rs` and
`AccumulatorEvent::from_balance_change` in `accumulator_event.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nexus_tools.sui.localnet.natives import StreamedEvent
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    AccumulatorEvents,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
)
from nexus_tools.sui.types.event import Event, event_digest
from nexus_tools.sui.types.type_tag import SUI, TypeTag, balance_tag


def net_changes(writes: Iterable[AccumulatorWrite]) -> tuple[AccumulatorWrite, ...]:
    """The sums, of balances alone; what cancels out is a deposit of nothing."""
    amounts: defaultdict[tuple[Address, TypeTag], int] = defaultdict(int)
    for write in writes:
        assert isinstance(write.value, AccumulatorInteger)
        # A sum of 0 stays in the list: effects name every balance that was touched.
        deposited = write.operation is AccumulatorOperation.MERGE
        amounts[write.address, write.type] += write.value.value if deposited else -write.value.value
    return tuple(_change(*account, amount) for account, amount in amounts.items())


def sui_change(owner: Address, amount: int) -> AccumulatorWrite:
    """What is put into a balance of SUI (MIST) or, if negative, taken out of it."""
    return _change(owner, balance_tag(SUI), amount)


def _change(owner: Address, funds: TypeTag, amount: int) -> AccumulatorWrite:
    operation = AccumulatorOperation.MERGE if amount >= 0 else AccumulatorOperation.SPLIT
    return AccumulatorWrite(owner, funds, operation, AccumulatorInteger(abs(amount)))


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
