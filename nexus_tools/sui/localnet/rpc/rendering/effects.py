"""The rendering of transaction effects (`sui.rpc.v2.TransactionEffects`)."""

from collections.abc import Mapping

from nexus_tools.sui.localnet.rpc.interface import Mask
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs, render_owner
from nexus_tools.sui.localnet.rpc.rendering.execution_error import FindModule, render_failure
from nexus_tools.sui.localnet.rpc.rendering.object import type_name
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    Absent,
    AccumulatorEvents,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    Cancelled,
    GasCostSummary,
    IdOperation,
    InputState,
    MutateEnded,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
    PerEpochConfig,
    ReadEnded,
    ReadOnlyRoot,
    TransactionEffects,
    Unchanged,
)
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.sui.types.object import Object

Types = Mapping[Address, Object]
"""Objects by ID, which provide the types of changed objects."""

_VERSION = 2
_INPUT_DOES_NOT_EXIST, _INPUT_EXISTS = 1, 2
_OUTPUTS: dict[type, int] = {Absent: 1, ObjectWrite: 2, PackageWrite: 3, AccumulatorWrite: 4}
_OPERATIONS = {IdOperation.NONE: 1, IdOperation.CREATED: 2, IdOperation.DELETED: 3}
_MERGE, _SPLIT = 1, 2
_INTEGER, _INTEGER_TUPLE, _EVENT_DIGEST = 1, 2, 3
_IMMUTABLE = 4
_UNCHANGED: dict[type[Unchanged], int] = {
    ReadOnlyRoot: 1,
    MutateEnded: 2,
    ReadEnded: 3,
    Cancelled: 4,
    PerEpochConfig: 5,
}


def render_effects(
    message: Message,
    effects: TransactionEffects,
    encoded: bytes,
    digest: Digest,
    mask: Mask,
    *,
    types: Types,
    find_module: FindModule,
) -> None:
    """Fill the requested fields of a transaction's effects. `encoded` are their BCS bytes."""
    if "bcs" in mask:
        render_bcs(message.bcs, "TransactionEffects", encoded)
    _render_head(message, effects, digest, mask)
    if "status" in mask:
        message.status.success = not isinstance(effects.status, ExecutionFailure)
        if isinstance(effects.status, ExecutionFailure):
            render_failure(message.status.error, effects.status, find_module)
    if "gas_used" in mask:
        render_gas_used(message.gas_used, effects.gas_used)
    gas_object, changes = mask.get("gas_object"), mask.get("changed_objects")
    if gas_object is not None and effects.gas_object_index is not None:
        row = effects.changed_objects[effects.gas_object_index]
        _render_change(message.gas_object, *row, effects, types=types, mask=gas_object)
    if changes is not None:
        for row in effects.changed_objects:
            target = message.changed_objects.add()
            _render_change(target, *row, effects, types=types, mask=changes)
    if "unchanged_consensus_objects" in mask:
        for object_id, unchanged in effects.unchanged_consensus_objects:
            target = message.unchanged_consensus_objects.add()
            _render_unchanged(target, object_id, unchanged, types)


def render_gas_used(message: Message, gas: GasCostSummary) -> None:
    """Fill a `sui.rpc.v2.GasCostSummary`, in MIST."""
    message.computation_cost = gas.computation_cost
    message.storage_cost = gas.storage_cost
    message.storage_rebate = gas.storage_rebate
    message.non_refundable_storage_fee = gas.non_refundable_storage_fee


def _render_head(message: Message, effects: TransactionEffects, digest: Digest, mask: Mask) -> None:
    if "digest" in mask:
        message.digest = str(digest)
    message.version = _VERSION
    message.epoch = effects.epoch
    message.lamport_version = effects.lamport_version
    if "transaction_digest" in mask:
        message.transaction_digest = str(effects.transaction_digest)
    if "events_digest" in mask and effects.events_digest is not None:
        message.events_digest = str(effects.events_digest)
    if "dependencies" in mask:
        message.dependencies.extend(map(str, effects.dependencies))
    if "auxiliary_data_digest" in mask and effects.aux_data_digest is not None:
        message.auxiliary_data_digest = str(effects.aux_data_digest)


def _render_change(
    message: Message,
    object_id: Address,
    change: ObjectChange,
    effects: TransactionEffects,
    *,
    types: Types,
    mask: Mask,
) -> None:
    message.object_id = str(object_id)
    message.id_operation = _OPERATIONS[change.operation]
    message.input_state = _INPUT_DOES_NOT_EXIST
    if isinstance(change.input, InputState):
        message.input_state = _INPUT_EXISTS
        message.input_version = change.input.version
        if "input_digest" in mask:
            message.input_digest = str(change.input.digest)
        if "input_owner" in mask:
            render_owner(message.input_owner, change.input.owner)
    _render_output(message, change, effects, mask)
    if "object_type" in mask and object_id in types:
        message.object_type = type_name(types[object_id])


def _render_output(
    message: Message, change: ObjectChange, effects: TransactionEffects, mask: Mask
) -> None:
    output = change.output
    message.output_state = _OUTPUTS[type(output)]
    if isinstance(output, ObjectWrite | PackageWrite) and "output_digest" in mask:
        message.output_digest = str(output.digest)
    if isinstance(output, ObjectWrite):
        message.output_version = effects.lamport_version
        if "output_owner" in mask:
            render_owner(message.output_owner, output.owner)
    elif isinstance(output, PackageWrite):
        message.output_version = output.version
        message.output_owner.kind = _IMMUTABLE
    elif isinstance(output, AccumulatorWrite):
        _render_accumulator_write(message.accumulator_write, output)


def _render_accumulator_write(message: Message, write: AccumulatorWrite) -> None:
    message.address = str(write.address)
    message.accumulator_type = str(write.type)
    message.operation = _MERGE if write.operation is AccumulatorOperation.MERGE else _SPLIT
    if isinstance(write.value, AccumulatorInteger):
        message.value_kind = _INTEGER
        message.integer_value = write.value.value
    elif isinstance(write.value, AccumulatorEvents):
        message.value_kind = _EVENT_DIGEST
        for index, digest in write.value.events:
            message.event_digest_value.add(event_index=index, digest=str(digest))
    else:
        message.value_kind = _INTEGER_TUPLE
        message.integer_tuple.extend((write.value.first, write.value.second))


def _render_unchanged(
    message: Message, object_id: Address, unchanged: Unchanged, types: Types
) -> None:
    message.kind = _UNCHANGED[type(unchanged)]
    message.object_id = str(object_id)
    if not isinstance(unchanged, PerEpochConfig):
        message.version = unchanged.version
    if isinstance(unchanged, ReadOnlyRoot):
        message.digest = str(unchanged.digest)
    if object_id in types:
        message.object_type = type_name(types[object_id])
