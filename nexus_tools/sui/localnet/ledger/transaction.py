"""An executed transaction with its effects on objects and balances.

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
    """The change of an owner's funds of one coin type. A negative amount is a decrease.

    The funds are in coins or in the owner's address balance. `amount` is in the coin's smallest
    unit, which is MIST for SUI.
    """

    address: Address
    coin_type: TypeTag
    amount: int


def balance_changes(
    inputs: Iterable[Object],
    outputs: Iterable[Object],
    accumulators: Iterable[AccumulatorWrite] = (),
) -> tuple[BalanceChange, ...]:
    """Return the differences between the funds before and after a transaction.

    `accumulators` are the changes of address balances in the effects. The result is sorted by owner
    and type and omits differences of 0. A coin that was only read must be neither in `inputs` nor
    in `outputs`.

    For example, Ann has a coin of 20, sends 1 to Bob and pays 2 for gas. Her coin is written as 17,
    so the result is -3 for Ann and +1 for Bob.
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
    """Return the address or object that owns the coin, or None for other objects and owners."""
    if not is_coin(value.type):
        return None
    if isinstance(value.owner, AddressOwner | ConsensusAddressOwner):
        return value.owner.address
    return value.owner.parent if isinstance(value.owner, ObjectOwner) else None


# --- Transactions


class Execution(Protocol):
    """The part of an execution result that the ledger stores."""

    @property
    def effects(self) -> TransactionEffects:
        """The effects."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The emitted events."""

    @property
    def written(self) -> Mapping[Address, Object]:
        """The written objects."""

    @property
    def written_bytes(self) -> Mapping[Address, bytes]:
        """The written objects as BCS, in the order of `written`."""

    @property
    def input_objects(self) -> tuple[Object, ...]:
        """The objects that the transaction read or changed, in their versions before it."""


class TransactionPlace(Struct, frozen=True):
    """The position of a transaction: its checkpoint, the checkpoint's time, and its index."""

    checkpoint: int
    timestamp_ms: int
    index: int = 0


class ExecutedTransaction(Struct, frozen=True):
    """A transaction, its signatures, its effects and its position in the chain.

    `signatures` are serialized: flag, signature, public key. `input_objects` are the object
    versions that the transaction read or changed. `output_objects` are the written versions, and
    `output_bytes` are the BCS of `output_objects`. `index_in_checkpoint` counts from 0.
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
        place: "TransactionPlace",
        data: TransactionData,
        data_bytes: bytes,
        signatures: Iterable[bytes],
        execution: "Execution",
    ) -> Self:
        """Return a transaction with the result of its execution, at a position in the chain."""
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
        """The changes of each owner's funds, including gas."""
        changed_versions = {
            (object_id, change.input.version)
            for object_id, change in self.effects.changed_objects
            if isinstance(change.input, InputState)
        }
        # Inputs that were only read have no output, so they would look like spent coins.
        before = (
            value for value in self.input_objects if (value.id, value.version) in changed_versions
        )
        accumulators = (
            change.output
            for _, change in self.effects.changed_objects
            if isinstance(change.output, AccumulatorWrite)
        )
        return balance_changes(before, self.output_objects, accumulators)
