"""The rendering of the system transactions that a localnet runs (`sui.rpc.v2.TransactionKind`)."""

from collections.abc import Callable
from typing import Any

from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_owner, render_time
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.system_transaction import (
    ChangeEpoch,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
    Genesis,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.transaction import TransactionKind

GENESIS, END_OF_EPOCH, RANDOMNESS_STATE_UPDATE, CONSENSUS_COMMIT_PROLOGUE_V4 = 3, 6, 7, 10
_STEP_CHANGE_EPOCH = 1


def render_system_kind(message: Message, kind: TransactionKind) -> None:
    """Fill the kind and the content of a system transaction."""
    number, field, render = _KINDS[type(kind)]
    message.kind = number
    render(getattr(message, field), kind)


def _render_genesis(message: Message, genesis: Genesis) -> None:
    for genesis_object in genesis.objects:
        target = message.objects.add(
            object_id=str(genesis_object.data.id), version=genesis_object.data.version
        )
        render_owner(target.owner, genesis_object.owner)
        if isinstance(genesis_object.data, MoveObject):
            target.object_type = str(genesis_object.data.type)


def _render_prologue(message: Message, prologue: ConsensusCommitPrologueV4) -> None:
    message.epoch = prologue.epoch
    message.round = prologue.round
    render_time(message.commit_timestamp, prologue.commit_timestamp_ms)
    message.consensus_commit_digest = str(prologue.consensus_commit_digest)
    if prologue.sub_dag_index is not None:
        message.sub_dag_index = prologue.sub_dag_index
    message.additional_state_digest = str(prologue.additional_state_digest)


def _render_randomness(message: Message, update: RandomnessStateUpdate) -> None:
    message.epoch = update.epoch
    message.randomness_round = update.round
    message.random_bytes = update.random_bytes
    message.randomness_object_initial_shared_version = update.initial_version


def _render_end_of_epoch(message: Message, transaction: EndOfEpoch) -> None:
    for step in transaction.steps:
        assert isinstance(step, ChangeEpoch)  # a localnet executes no other kind
        target = message.transactions.add(kind=_STEP_CHANGE_EPOCH)
        _render_change(target.change_epoch, step)


def _render_change(message: Message, change: ChangeEpoch) -> None:
    message.epoch = change.epoch
    message.protocol_version = change.protocol_version
    message.storage_charge = change.storage_charge
    message.computation_charge = change.computation_charge
    message.storage_rebate = change.storage_rebate
    message.non_refundable_storage_fee = change.non_refundable_storage_fee
    render_time(message.epoch_start_timestamp, change.epoch_start_timestamp_ms)


_KINDS: dict[type[Any], tuple[int, str, Callable[[Message, Any], None]]] = {
    Genesis: (GENESIS, "genesis", _render_genesis),
    EndOfEpoch: (END_OF_EPOCH, "end_of_epoch", _render_end_of_epoch),
    RandomnessStateUpdate: (
        RANDOMNESS_STATE_UPDATE,
        "randomness_state_update",
        _render_randomness,
    ),
    ConsensusCommitPrologueV4: (
        CONSENSUS_COMMIT_PROLOGUE_V4,
        "consensus_commit_prologue",
        _render_prologue,
    ),
}
