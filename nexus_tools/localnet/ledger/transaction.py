"""A transaction with what it did."""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.ledger.balance_change import BalanceChange, balance_changes
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest, effects_digest
from nexus_tools.sui.effects import AccumulatorWrite, InputState, TransactionEffects
from nexus_tools.sui.event import Event
from nexus_tools.sui.object import Object
from nexus_tools.sui.transaction import TransactionData


class TransactionOutcome(Protocol):
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
    def input_objects(self) -> tuple[Object, ...]:
        """The objects that it read or changed, as they were."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the chain: checkpoint, its time, and how many transactions in it come before."""

    checkpoint: int
    timestamp_ms: int
    index: int = 0


@dataclass(frozen=True, slots=True)
class ExecutedTransaction:
    """A transaction, its signatures, its effects and its place in the chain.

    `signatures` are serialized: flag, signature, public key. `input_objects` are the versions that
    it read or changed, `output_objects` those that it wrote. `index_in_checkpoint` counts from 0.
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
        outcome: "TransactionOutcome",
    ) -> Self:
        """A transaction with its outcome, at a place in the chain; each value is encoded once."""
        effects_bytes = outcome.effects.encode()
        return cls(
            digest=outcome.effects.transaction_digest,
            data=data,
            data_bytes=data_bytes,
            signatures=tuple(signatures),
            effects=outcome.effects,
            effects_bytes=effects_bytes,
            effects_digest=effects_digest(effects_bytes),
            events=outcome.events,
            input_objects=outcome.input_objects,
            output_objects=tuple(outcome.written.values()),
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
        before = (value for value in self.input_objects if (value.id, value.version) in changed)
        accumulators = (
            change.output
            for _, change in self.effects.changed_objects
            if isinstance(change.output, AccumulatorWrite)
        )
        return balance_changes(before, self.output_objects, accumulators)
