"""System transactions: the clock, random bytes, address balances, and the end of an epoch.

As on a real network, a system transaction calls framework functions as sender 0x0, with access to
private functions and without gas. Source: `execution_engine.rs` of `sui-adapter`;
`TransactionData::new_system_transaction` in `sui-types/src/transaction.rs`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from nexus_tools.sui.bcs import byte_vector, u64
from nexus_tools.sui.localnet.execution.environment import ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import RANDOM, SUI_FRAMEWORK, SUI_SYSTEM, SYSTEM_STATE, ZERO
from nexus_tools.sui.types.clock import clock_input
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference, Shared
from nexus_tools.sui.types.system_transaction import (
    ChangeEpoch,
    ConsensusCommitPrologue,
    ConsensusCommitPrologueV2,
    ConsensusCommitPrologueV3,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.transaction import (
    Argument,
    GasData,
    InputArgument,
    MoveCall,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
    Pure,
    SharedObject,
    TransactionData,
    TransactionKind,
)
from nexus_tools.sui.types.type_tag import SUI

_FIRST_VERSION = 1  # the version of objects that genesis creates

# The bytes are the flag of Ed25519 (0), 64 bytes for a signature, and 32 bytes for a key.
SYSTEM_SIGNATURE = bytes(97)
"""The placeholder signature of system transactions, which is an Ed25519 signature of zeros."""

_NO_PAYMENT = (ObjectReference(ZERO, 0, Digest(bytes(32))),)


def system_data(kind: TransactionKind) -> TransactionData:
    """Return a transaction that 0x0 sends at no cost."""
    return TransactionData(kind, ZERO, GasData(_NO_PAYMENT, ZERO, 1, 0), NoExpiration())


# --- Translation into calls

Prologue = (
    ConsensusCommitPrologue
    | ConsensusCommitPrologueV2
    | ConsensusCommitPrologueV3
    | ConsensusCommitPrologueV4
)


def as_programmable(data: TransactionData, store: ObjectStore) -> TransactionData:
    """Translate a system transaction into a programmable transaction with the calls that it makes.

    Raises:
        TransactionRefused: the localnet does not support this kind.
    """
    translate = _CALLS.get(type(data.kind))
    if translate is None:
        raise TransactionRefused(
            "unsupported",
            f"Feature is not supported: transactions of the kind {type(data.kind).__name__}",
        )
    return replace(data, kind=translate(data.kind, store))


def _set_clock(prologue: Prologue, _store: ObjectStore) -> ProgrammableTransaction:
    clock = clock_input(mutable=True)
    timestamp = Pure(u64.encode(prologue.commit_timestamp_ms))
    return _call("clock", "consensus_commit_prologue", (clock, timestamp))


def _update_randomness(
    update: RandomnessStateUpdate, store: ObjectStore
) -> ProgrammableTransaction:
    randomness_state = store.get(RANDOM)
    if randomness_state is None or not isinstance(randomness_state.owner, Shared):
        raise TransactionRefused("object_not_found", "the randomness object 0x8 does not exist")
    random = SharedObject(RANDOM, randomness_state.owner.initial_version, mutable=True)
    values = (Pure(u64.encode(update.round)), Pure(byte_vector.encode(update.random_bytes)))
    return _call("random", "update_randomness_state", (random, *values))


def _unchanged(kind: ProgrammableSystemTransaction, _store: ObjectStore) -> ProgrammableTransaction:
    return ProgrammableTransaction(kind.inputs, kind.commands)


def _call(
    module: str, function: str, inputs: tuple[SharedObject | Pure, ...]
) -> ProgrammableTransaction:
    arguments = tuple(map(InputArgument, range(len(inputs))))
    return ProgrammableTransaction(
        inputs, (MoveCall(SUI_FRAMEWORK, module, function, (), arguments),)
    )


# --- The end of an epoch

STORAGE_FUND_REINVEST_RATE = 500
"""The part of the storage fund's rewards that stays in the fund, in basis points."""

REWARD_SLASHING_RATE = 10_000
"""The part of its rewards that a reported validator loses, in basis points."""


def _end_of_epoch(transaction: EndOfEpoch, _store: ObjectStore) -> ProgrammableTransaction:
    """Translate the last transaction of an epoch.

    The only step of the transaction must be `ChangeEpoch`.
    """
    if len(transaction.steps) != 1 or not isinstance(transaction.steps[0], ChangeEpoch):
        steps = ", ".join(type(step).__name__ for step in transaction.steps)
        raise TransactionRefused(
            "unsupported",
            f"Feature is not supported: transactions of the kind EndOfEpoch with ({steps})",
        )
    return _change_epoch(transaction.steps[0], _store)


def _change_epoch(change: ChangeEpoch, _store: ObjectStore) -> ProgrammableTransaction:
    """Return calls that mint the epoch's gas payments, advance the epoch, and burn the rebates.

    `sui_system::advance_epoch` distributes the rewards. The framework packages do not change,
    because the localnet does not have newer packages. Source: `construct_advance_epoch_pt`.
    """
    if change.system_packages:
        raise TransactionRefused(
            "unsupported", "Feature is not supported: upgrades of system packages"
        )
    builder = TransactionBuilder()
    storage = _rewards(builder, change.storage_charge)
    computation = _rewards(builder, change.computation_charge)
    numbers = (
        change.epoch,
        change.protocol_version,
        change.storage_rebate,
        change.non_refundable_storage_fee,
        STORAGE_FUND_REINVEST_RATE,
        REWARD_SLASHING_RATE,
        change.epoch_start_timestamp_ms,
    )
    state = builder.resolved(SharedObject(SYSTEM_STATE, _FIRST_VERSION, mutable=True))
    rebates = builder.move_call(
        SUI_SYSTEM,
        "sui_system",
        "advance_epoch",
        [storage, computation, state, *map(builder.u64, numbers)],
    )
    builder.move_call(SUI_FRAMEWORK, "balance", "destroy_storage_rebates", [rebates], [SUI])
    return builder.finish()


def _rewards(builder: TransactionBuilder, amount: int) -> Argument:
    return builder.move_call(
        SUI_FRAMEWORK, "balance", "create_staking_rewards", [builder.u64(amount)], [SUI]
    )


_CALLS: Mapping[type[Any], Callable[[Any, ObjectStore], ProgrammableTransaction]] = {
    ConsensusCommitPrologue: _set_clock,
    ConsensusCommitPrologueV2: _set_clock,
    ConsensusCommitPrologueV3: _set_clock,
    ConsensusCommitPrologueV4: _set_clock,
    RandomnessStateUpdate: _update_randomness,
    ChangeEpoch: _change_epoch,
    EndOfEpoch: _end_of_epoch,
    ProgrammableSystemTransaction: _unchanged,
}
