"""A transaction with what it did, to objects and to the money of each owner.

Source of balance changes: `sui-types/src/balance_change.rs`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from msgspec import Struct

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import coin_type_of
from nexus_tools.sui.types.coin import coin_balance, is_coin
from nexus_tools.sui.types.digest import Digest, effects_digest
from nexus_tools.sui.types.effects import (
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    InputState,
    TransactionEffects,
)
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    MoveObject,
    Object,
    ObjectOwner,
)
from nexus_tools.sui.types.transaction import TransactionData
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag


class BalanceChange(Struct, frozen=True):
    """By how much an owner's money of one type grew or, if negative, shrank.

    It may be in coins or in the owner's address balance. `amount` is in the coin's smallest unit:
    MIST for SUI.
    """

    address: Address
    coin_type: TypeTag
    amount: int


def balance_changes(
    inputs: Iterable[Object],
    outputs: Iterable[Object],
    accumulators: Iterable[AccumulatorWrite] = (),
) -> tuple[BalanceChange, ...]:
    """The changes between the objects before a transaction and those after it.

    `accumulators` are what the effects say of address balances. The changes are sorted by owner
    and type; what did not change in sum is left out. A coin that was only read must be in neither.

    Ann's coin of 20 is written as 17, 1 of it in a coin for Bob: Ann has -3, gas included, Bob +1.
    """
    amounts: defaultdict[tuple[Address, TypeTag], int] = defaultdict(int)
    for sign, objects in ((-1, inputs), (1, outputs)):
        for value in objects:
            owner = _coin_owner(value)
            if owner is not None and isinstance(value.data, MoveObject):
                coin_type = value.data.type.type_params[0]
                amounts[owner, coin_type] += sign * coin_balance(value)
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
    if not is_coin(value.type):
        return None
    if isinstance(value.owner, AddressOwner | ConsensusAddressOwner):
        return value.owner.address
    return value.owner.parent if isinstance(value.owner, ObjectOwner) else None


# --- Transactions


class Execution(Protocol):
    """What whoever executes a transaction says of it."""

    @property
    def effects(self) -> TransactionEffects:
        """What it did."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What it emitted."""

    @property
    def written(self) -> Mapping[Address, Object]:
        """The objects that it wrote."""

    @property
    def written_bytes(self) -> Mapping[Address, bytes]:
        """The same as BCS, in the same order."""

    @property
    def input_objects(self) -> tuple[Object, ...]:
        """The objects that it read or changed, as they were."""


class Place(Struct, frozen=True):
    """A place in the chain: checkpoint, its time, and how many transactions in it come before."""

    checkpoint: int
    timestamp_ms: int
    index: int = 0


class ExecutedTransaction(Struct, frozen=True):
    """A transaction, its signatures, its effects and its place in the chain.

    `signatures` are serialized: flag, signature, public key. `input_objects` are the versions that
    it read or changed, `output_objects` those that it wrote, `output_bytes` the same as BCS.
    `index_in_checkpoint` counts from 0.
    """

    digest: Digest
    data: TransactionData
    data_bytes: bytes
    signatures: tuple[bytes, ...]
    effects: TransactionEffects
    effects_bytes: bytes
    effects_digest: Digest
    events: tuple[Event, ...]
    input_objects: tuple[Object, ...]
    output_objects: tuple[Object, ...]
    output_bytes: tuple[bytes, ...]
    checkpoint: int
    timestamp_ms: int
    index_in_checkpoint: int

    @classmethod
    def at(
        cls,
        place: "Place",
        data: TransactionData,
        data_bytes: bytes,
        signatures: Iterable[bytes],
        execution: "Execution",
    ) -> Self:
        """A transaction with what executing it gave, at a place in the chain."""
        effects_bytes = execution.effects.encode()
        return cls(
            digest=execution.effects.transaction_digest,
            data=data,
            data_bytes=data_bytes,
            signatures=tuple(signatures),
            effects=execution.effects,
            effects_bytes=effects_bytes,
            effects_digest=effects_digest(effects_bytes),
            events=execution.events,
            input_objects=execution.input_objects,
            output_objects=tuple(execution.written.values()),
            output_bytes=tuple(execution.written_bytes.values()),
            checkpoint=place.checkpoint,
            timestamp_ms=place.timestamp_ms,
            index_in_checkpoint=place.index,
        )

    @property
    def balance_changes(self) -> tuple[BalanceChange, ...]:
        """What it did to the money of each owner, gas included."""
        changed = {
            (object_id, change.input.version)
            for object_id, change in self.effects.changed_objects
            if isinstance(change.input, InputState)
        }
        # Inputs that were only read are not written again: they would seem to be spent.
        before = (value for value in self.input_objects if (value.id, value.version) in changed)
        accumulators = (
            change.output
            for _, change in self.effects.changed_objects
            if isinstance(change.output, AccumulatorWrite)
        )
        return balance_changes(before, self.output_objects, accumulators)
