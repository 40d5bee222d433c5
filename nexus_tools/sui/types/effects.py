"""Transaction effects, which are the changes that a transaction made to the ledger.

Source: `sui-types/src/effects/{effects_v2,object_change}.rs` and `gas.rs`.
"""

from enum import Enum

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    choice,
    option,
    record,
    struct,
    u32,
    u64,
    unit_enum,
    vector,
    wrapper,
)
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.digest import DIGEST, Digest, effects_digest
from nexus_tools.sui.types.execution_status import EXECUTION_STATUS, ExecutionStatus
from nexus_tools.sui.types.object import OWNER, Owner
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag, balance_tag


class GasCostSummary(Struct, frozen=True):
    """The gas cost of a transaction, in MIST."""

    computation_cost: int
    storage_cost: int
    storage_rebate: int
    non_refundable_storage_fee: int

    @property
    def net(self) -> int:
        """The net cost for the payer, which is negative if the rebate exceeds the costs."""
        return self.computation_cost + self.storage_cost - self.storage_rebate

    def __add__(self, other: "GasCostSummary") -> "GasCostSummary":
        return GasCostSummary(
            self.computation_cost + other.computation_cost,
            self.storage_cost + other.storage_cost,
            self.storage_rebate + other.storage_rebate,
            self.non_refundable_storage_fee + other.non_refundable_storage_fee,
        )


class Absent(Struct, frozen=True):
    """The state of an object that does not exist before or after the transaction."""


class InputState(Struct, frozen=True):
    """The state of an existing object before the transaction."""

    version: int
    digest: Digest
    owner: Owner


class ObjectWrite(Struct, frozen=True):
    """The state of an object after the transaction. The object's version is the Lamport version."""

    digest: Digest
    owner: Owner


class PackageWrite(Struct, frozen=True):
    """The state of a package that the transaction published."""

    version: int
    digest: Digest


class AccumulatorOperation(Enum):
    """The direction of an address balance's change. MERGE is a deposit, SPLIT is a withdrawal."""

    MERGE = "merge"
    SPLIT = "split"


class AccumulatorInteger(Struct, frozen=True):
    """The amount of an accumulator write."""

    value: int


class AccumulatorPair(Struct, frozen=True):
    """The two amounts of an accumulator write."""

    first: int
    second: int


class AccumulatorEvents(Struct, frozen=True):
    """The events that a transaction adds to a stream, as pairs of an index and a digest."""

    events: tuple[tuple[int, Digest], ...]


AccumulatorValue = AccumulatorInteger | AccumulatorPair | AccumulatorEvents


class AccumulatorWrite(Struct, frozen=True):
    """A write to an accumulator: a change of an address balance, or events for an event stream.

    For an address balance, `type` is `0x2::balance::Balance<T>`.
    """

    address: Address
    type: TypeTag
    operation: AccumulatorOperation
    value: AccumulatorValue


class IdOperation(Enum):
    """The change of an object ID: none, created or deleted."""

    NONE = "none"
    CREATED = "created"
    DELETED = "deleted"

    # The default hash of an `Enum` is a slow Python function.
    __hash__ = object.__hash__


class ObjectChange(Struct, frozen=True):
    """The change of an object: its state before and after the transaction, and its ID's change."""

    input: Absent | InputState
    output: Absent | ObjectWrite | PackageWrite | AccumulatorWrite
    operation: IdOperation


class ReadOnlyRoot(Struct, frozen=True):
    """A shared input that the transaction only read."""

    version: int
    digest: Digest


class MutateEnded(Struct, frozen=True):
    """A mutable shared input that no longer exists."""

    version: int


class ReadEnded(Struct, frozen=True):
    """A read-only shared input that no longer exists."""

    version: int


class Cancelled(Struct, frozen=True):
    """A shared input of a cancelled transaction."""

    version: int


class PerEpochConfig(Struct, frozen=True):
    """A shared input that changes only between epochs."""


Unchanged = ReadOnlyRoot | MutateEnded | ReadEnded | Cancelled | PerEpochConfig


class TransactionEffects(Struct, frozen=True):
    """The effects of a transaction (`TransactionEffectsV2`).

    `changed_objects` and `dependencies` are sorted. `gas_object_index` is the gas coin's index in
    `changed_objects`.
    """

    status: ExecutionStatus
    epoch: int
    gas_used: GasCostSummary
    transaction_digest: Digest
    gas_object_index: int | None
    events_digest: Digest | None
    dependencies: tuple[Digest, ...]
    lamport_version: int
    changed_objects: tuple[tuple[Address, ObjectChange], ...]
    unchanged_consensus_objects: tuple[tuple[Address, Unchanged], ...]
    aux_data_digest: Digest | None

    def encode(self) -> bytes:
        """Return the BCS bytes."""
        return TRANSACTION_EFFECTS.encode(self)

    def digest(self) -> Digest:
        """Return the digest of the effects."""
        return effects_digest(self.encode())

    def address_balance_change(self, owner: Address, coin_type: TypeTag) -> int:
        """Return the change of an address balance in the smallest unit, which is MIST for SUI.

        If the address balance pays the gas, the change includes the gas. The balance changes when a
        later checkpoint settles the change.
        """
        funds, change = balance_tag(coin_type), 0
        for _, changed_object in self.changed_objects:
            write = changed_object.output
            if not isinstance(write, AccumulatorWrite) or (write.address, write.type) != (
                owner,
                funds,
            ):
                continue
            assert isinstance(write.value, AccumulatorInteger)
            sign = 1 if write.operation is AccumulatorOperation.MERGE else -1
            change += sign * write.value.value
        return change


GAS_COST_SUMMARY = struct(GasCostSummary, u64, u64, u64, u64)

_VERSION_DIGEST = record((u64, DIGEST))
_VERSION_DIGEST_OWNER = record((_VERSION_DIGEST, OWNER))


def _read_input_state(data: bytes, position: int) -> tuple[InputState, int]:
    ((version, digest), owner), position = _VERSION_DIGEST_OWNER.read(data, position)
    return InputState(version, digest, owner), position


def _write_input_state(state: InputState, out: bytearray) -> None:
    _VERSION_DIGEST_OWNER.write(((state.version, state.digest), state.owner), out)


_ACCUMULATOR_WRITE = struct(
    AccumulatorWrite,
    ADDRESS,
    TYPE_TAG,
    unit_enum(AccumulatorOperation),
    choice(
        "AccumulatorValue",
        (AccumulatorInteger, struct(AccumulatorInteger, u64)),
        (AccumulatorPair, struct(AccumulatorPair, u64, u64)),
        wrapper(AccumulatorEvents, vector(record((u64, DIGEST)))),
    ),
)

OBJECT_CHANGE: Codec[ObjectChange] = struct(
    ObjectChange,
    choice(
        "ObjectIn",
        (Absent, struct(Absent)),
        (InputState, Codec(_read_input_state, _write_input_state)),
    ),
    choice(
        "ObjectOut",
        (Absent, struct(Absent)),
        (ObjectWrite, struct(ObjectWrite, DIGEST, OWNER)),
        (PackageWrite, struct(PackageWrite, u64, DIGEST)),
        (AccumulatorWrite, _ACCUMULATOR_WRITE),
    ),
    unit_enum(IdOperation),
)

_UNCHANGED: Codec[Unchanged] = choice(
    "UnchangedConsensusKind",
    (ReadOnlyRoot, struct(ReadOnlyRoot, u64, DIGEST)),
    (MutateEnded, struct(MutateEnded, u64)),
    (ReadEnded, struct(ReadEnded, u64)),
    (Cancelled, struct(Cancelled, u64)),
    (PerEpochConfig, struct(PerEpochConfig)),
)

_EFFECTS_V2 = struct(
    TransactionEffects,
    EXECUTION_STATUS,
    u64,
    GAS_COST_SUMMARY,
    DIGEST,
    option(u32),
    option(DIGEST),
    vector(DIGEST),
    u64,
    vector(record((ADDRESS, OBJECT_CHANGE))),
    vector(record((ADDRESS, _UNCHANGED))),
    option(DIGEST),
)
_V2 = 1


def _read_effects(data: bytes, position: int) -> tuple[TransactionEffects, int]:
    if data[position] != _V2:
        raise BcsError(f"expected effects of version 2, got version {data[position] + 1}")
    return _EFFECTS_V2.read(data, position + 1)


def _write_effects(effects: TransactionEffects, out: bytearray) -> None:
    out.append(_V2)
    _EFFECTS_V2.write(effects, out)


TRANSACTION_EFFECTS: Codec[TransactionEffects] = Codec(_read_effects, _write_effects)
