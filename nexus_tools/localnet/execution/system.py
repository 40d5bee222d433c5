"""Transactions of the network: the clock, random bytes, address balances, the epoch's change.

All is done by calling the framework's own functions, as on a real network: from address 0x0, with
the right to call what is private, and without gas. Source: `execution_engine.rs` of `sui-adapter`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nexus_tools.localnet.execution.environment import ObjectStore
from nexus_tools.localnet.execution.epoch_change import change_epoch, end_of_epoch
from nexus_tools.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.address import CLOCK, RANDOM, SUI_FRAMEWORK
from nexus_tools.sui.bcs import byte_vector, u64
from nexus_tools.sui.end_of_epoch import EndOfEpoch
from nexus_tools.sui.object import Shared
from nexus_tools.sui.system_transaction import (
    ChangeEpoch,
    ConsensusCommitPrologue,
    ConsensusCommitPrologueV2,
    ConsensusCommitPrologueV3,
    ConsensusCommitPrologueV4,
    RandomnessStateUpdate,
)
from nexus_tools.sui.transaction import (
    InputArgument,
    MoveCall,
    ProgrammableSystemTransaction,
    ProgrammableTransaction,
    Pure,
    SharedObject,
    TransactionData,
)

Prologue = (
    ConsensusCommitPrologue
    | ConsensusCommitPrologueV2
    | ConsensusCommitPrologueV3
    | ConsensusCommitPrologueV4
)

_CLOCK_INITIAL_VERSION = 1


def as_programmable(data: TransactionData, store: ObjectStore) -> TransactionData:
    """A system transaction as the call that it stands for. Refuses what the localnet lacks."""
    translate = _CALLS.get(type(data.kind))
    if translate is None:
        raise TransactionRefused(
            "unsupported",
            f"Feature is not supported: transactions of the kind {type(data.kind).__name__}",
        )
    return replace(data, kind=translate(data.kind, store))


def _set_clock(prologue: Prologue, _store: ObjectStore) -> ProgrammableTransaction:
    clock = SharedObject(CLOCK, _CLOCK_INITIAL_VERSION, mutable=True)
    timestamp = Pure(u64.encode(prologue.commit_timestamp_ms))
    return _call("clock", "consensus_commit_prologue", (clock, timestamp))


def _update_randomness(
    update: RandomnessStateUpdate, store: ObjectStore
) -> ProgrammableTransaction:
    found = store.get(RANDOM)
    if found is None or not isinstance(found.owner, Shared):
        raise TransactionRefused("object_not_found", "there is no object 0x8 for randomness")
    random = SharedObject(RANDOM, found.owner.initial_version, mutable=True)
    values = (Pure(u64.encode(update.round)), Pure(byte_vector.encode(update.random_bytes)))
    return _call("random", "update_randomness_state", (random, *values))


def _as_it_is(kind: ProgrammableSystemTransaction, _store: ObjectStore) -> ProgrammableTransaction:
    return ProgrammableTransaction(kind.inputs, kind.commands)


def _call(
    module: str, function: str, inputs: tuple[SharedObject | Pure, ...]
) -> ProgrammableTransaction:
    arguments = tuple(map(InputArgument, range(len(inputs))))
    return ProgrammableTransaction(
        inputs, (MoveCall(SUI_FRAMEWORK, module, function, (), arguments),)
    )


_CALLS: Mapping[type[Any], Callable[[Any, ObjectStore], ProgrammableTransaction]] = {
    ConsensusCommitPrologue: _set_clock,
    ConsensusCommitPrologueV2: _set_clock,
    ConsensusCommitPrologueV3: _set_clock,
    ConsensusCommitPrologueV4: _set_clock,
    RandomnessStateUpdate: _update_randomness,
    ChangeEpoch: lambda change, _store: change_epoch(change),
    EndOfEpoch: lambda transaction, _store: end_of_epoch(transaction),
    ProgrammableSystemTransaction: _as_it_is,
}
