"""The changes of address balances and event streams in the effects of a transaction.

Commands may deposit, withdraw and emit events for a stream any number of times. The effects have
one sum for each balance and one list of events for each stream. Source: `AccumulatorWriteV1::merge`
in `sui-types/src/effects/object_change.rs` and `AccumulatorEvent::from_balance_change` in
`accumulator_event.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nexus_tools.sui.localnet.natives import StreamEvent
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
    """Return one change for each balance, with the sum of its changes.

    A sum of 0 is a deposit of 0.
    """
    amounts: defaultdict[tuple[Address, TypeTag], int] = defaultdict(int)
    for write in writes:
        assert isinstance(write.value, AccumulatorInteger)
        # A sum of 0 stays in the list, because effects list every balance that commands changed.
        deposited = write.operation is AccumulatorOperation.MERGE
        amounts[write.address, write.type] += write.value.value if deposited else -write.value.value
    return tuple(_change(*account, amount) for account, amount in amounts.items())


def sui_change(owner: Address, amount: int) -> AccumulatorWrite:
    """Return a deposit of MIST into an address balance, or a withdrawal if `amount` is negative."""
    return _change(owner, balance_tag(SUI), amount)


def _change(owner: Address, funds: TypeTag, amount: int) -> AccumulatorWrite:
    operation = AccumulatorOperation.MERGE if amount >= 0 else AccumulatorOperation.SPLIT
    return AccumulatorWrite(owner, funds, operation, AccumulatorInteger(abs(amount)))


def stream_changes(
    streamed: Iterable[StreamEvent], events: Sequence[Event]
) -> tuple[AccumulatorWrite, ...]:
    """Return one change for each event stream. `events` are all events of the transaction."""
    streams: defaultdict[tuple[Address, TypeTag], list[tuple[int, Digest]]] = defaultdict(list)
    for event in streamed:
        digest = event_digest(events[event.number])
        streams[event.stream, event.head].append((event.number, digest))
    return tuple(
        AccumulatorWrite(*stream, AccumulatorOperation.MERGE, AccumulatorEvents(tuple(digests)))
        for stream, digests in streams.items()
    )
