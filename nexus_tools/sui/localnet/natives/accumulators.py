"""The changes of address balances and the stream events of one transaction.

The changes take effect when the network settles the checkpoint. Source: `emit_accumulator_event` in
`object_runtime/mod.rs` of `sui-move-natives`.
"""

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from nexus_tools.sui.localnet.vm import ErrorKind, PrimitiveError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import AccumulatorInteger, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.types.type_tag import TypeTag

_MAX_TOTAL = 2**64 - 1


class StreamEvent(Struct, frozen=True):
    """An event for a stream. `number` is its index from 0 among all events of the transaction."""

    stream: Address
    head: TypeTag
    number: int


class Accumulators:
    """The balance changes of a transaction in order. Deposits and withdrawals have separate limits.

    `streamed` has the events for streams in order.
    """

    __slots__ = ("_totals", "_writes", "streamed")

    def __init__(self) -> None:
        self.streamed: list[StreamEvent] = []
        self._writes: list[AccumulatorWrite] = []
        self._totals: defaultdict[tuple[Address, TypeTag, AccumulatorOperation], int]
        self._totals = defaultdict(int)

    def __iter__(self) -> Iterator[AccumulatorWrite]:
        return iter(self._writes)

    def add(
        self, operation: AccumulatorOperation, owner: Address, funds: TypeTag, amount: int
    ) -> None:
        """Record a deposit or withdrawal. Raises `PrimitiveError` if the total exceeds 64 bits."""
        key = (owner, funds, operation)
        self._totals[key] += amount
        if self._totals[key] > _MAX_TOTAL:
            raise PrimitiveError(ErrorKind.ARITHMETIC_ERROR, None, None)
        write = AccumulatorWrite(owner, funds, operation, AccumulatorInteger(amount))
        self._writes.append(write)
