"""What a transaction did to the money of each owner.

Source: `sui-types/src/balance_change.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import coin_type_of
from nexus_tools.sui.effects import AccumulatorInteger, AccumulatorOperation, AccumulatorWrite
from nexus_tools.sui.object import (
    AddressOwner,
    ConsensusAddressOwner,
    MoveObject,
    Object,
    ObjectOwner,
)
from nexus_tools.sui.type_tag import GAS_COIN, TYPE_TAG, StructTag, TypeTag

_COIN = (GAS_COIN.address, GAS_COIN.module, GAS_COIN.name)


@dataclass(frozen=True, slots=True)
class BalanceChange:
    """By how much an owner's money of one type grew or, if negative, shrank.

    It may be in coins or in the owner's address balance.

    `amount` is in the coin's smallest unit: MIST for SUI.
    """

    address: Address
    coin_type: TypeTag
    amount: int


def is_coin(tag: StructTag) -> bool:
    """Whether this is the type of a coin, `0x2::coin::Coin<T>`."""
    return (tag.address, tag.module, tag.name) == _COIN and len(tag.type_params) == 1


def coin_balance(data: MoveObject) -> int:
    """The balance of a coin: behind its id, a `u64`."""
    return int.from_bytes(data.contents[32:40], "little")


def balance_changes(
    inputs: Iterable[Object],
    outputs: Iterable[Object],
    accumulators: Iterable[AccumulatorWrite] = (),
) -> tuple[BalanceChange, ...]:
    """The changes between the objects before a transaction and those after it.

    `accumulators` are what the effects say of address balances. The changes are sorted by owner
    and type; what did not change in sum is left out. A coin that was only read must be in neither.
    """
    amounts: defaultdict[tuple[Address, TypeTag], int] = defaultdict(int)
    for sign, objects in ((-1, inputs), (1, outputs)):
        for value in objects:
            owner = _coin_owner(value)
            if owner is not None and isinstance(value.data, MoveObject):
                coin_type = value.data.type.type_params[0]
                amounts[owner, coin_type] += sign * coin_balance(value.data)
    for write in accumulators:
        written_type = coin_type_of(write.type)
        if written_type is not None and isinstance(write.value, AccumulatorInteger):
            sign = 1 if write.operation is AccumulatorOperation.MERGE else -1
            amounts[write.address, written_type] += sign * write.value.value
    changes = [BalanceChange(*key, amount) for key, amount in amounts.items() if amount]
    changes.sort(key=lambda change: (change.address, TYPE_TAG.encode(change.coin_type)))
    return tuple(changes)


def _coin_owner(value: Object) -> Address | None:
    """The address or object that owns the coin; None if this is no coin, or nobody's."""
    if not isinstance(value.data, MoveObject) or not is_coin(value.data.type):
        return None
    if isinstance(value.owner, AddressOwner | ConsensusAddressOwner):
        return value.owner.address
    return value.owner.parent if isinstance(value.owner, ObjectOwner) else None
