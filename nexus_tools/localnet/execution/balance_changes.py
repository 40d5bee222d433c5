"""Changes of address balances, as effects have them: one for each balance.

Source: `AccumulatorWriteV1::merge` in `sui-types/src/effects/object_change.rs` and
`AccumulatorEvent::from_balance_change` in `accumulator_event.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable

from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import balance_tag
from nexus_tools.sui.effects import AccumulatorInteger, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.type_tag import SUI, TypeTag


def net_changes(writes: Iterable[AccumulatorWrite]) -> tuple[AccumulatorWrite, ...]:
    """The sums, of balances alone; what cancels out is a deposit of nothing."""
    amounts: defaultdict[tuple[Address, TypeTag], int] = defaultdict(int)
    for write in writes:
        assert isinstance(write.value, AccumulatorInteger)
        deposited = write.operation is AccumulatorOperation.MERGE
        amounts[write.address, write.type] += write.value.value if deposited else -write.value.value
    return tuple(_change(*account, amount) for account, amount in amounts.items())


def sui_change(owner: Address, amount: int) -> AccumulatorWrite:
    """What is put into a balance of SUI (MIST) or, if negative, taken out of it."""
    return _change(owner, balance_tag(SUI), amount)


def _change(owner: Address, funds: TypeTag, amount: int) -> AccumulatorWrite:
    operation = AccumulatorOperation.MERGE if amount >= 0 else AccumulatorOperation.SPLIT
    return AccumulatorWrite(owner, funds, operation, AccumulatorInteger(abs(amount)))
