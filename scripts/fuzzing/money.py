"""The amount of SUI in objects."""

from collections.abc import Iterable
from typing import Any

from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.vm import Machine, Variant, substitute
from nexus_tools.sui.types.effects import (
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    InputState,
)
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import SUI, StructTag, VectorTag, balance_tag

_BALANCE = balance_tag(SUI)


def lost_mist(node: Node, executed: ExecutedTransaction) -> int:
    """Return the MIST that a transaction loses.

    The loss is the SUI and rebates before the transaction, minus the SUI and rebates after it,
    minus the burnt gas.

    Source: `check_sui_conserved` in `sui-types/src/inner_temporary_store.rs`.
    """
    gas = executed.effects.gas_used
    changed = {
        (object_id, change.input.version)
        for object_id, change in executed.effects.changed_objects
        if isinstance(change.input, InputState)
    }
    before = [node.ledger.get_version(*key) for key in sorted(changed)]
    paid = gas.computation_cost + gas.non_refundable_storage_fee
    lost = total_mist(node.machine, before) - paid
    lost -= total_mist(node.machine, executed.output_objects)
    return lost - sum(
        _mist_to_balance(change.output) for _, change in executed.effects.changed_objects
    )


def total_mist(machine: Machine, objects: Iterable[Object | None]) -> int:
    """Return the sum of the balances in objects and of their storage rebates, in MIST."""
    total = 0
    for value in objects:
        assert value is not None
        total += value.storage_rebate
        if isinstance(value.data, MoveObject):
            type_ = value.data.type
            total += _in_value(machine, type_, machine.types.decode(type_, value.data.contents))
    return total


def _in_value(machine: Machine, type_: Any, value: Any) -> int:
    if type_ == _BALANCE:
        return int(value[0])
    if isinstance(type_, VectorTag):
        if not isinstance(type_.element, StructTag | VectorTag) or isinstance(value, bytearray):
            return 0
        return sum(_in_value(machine, type_.element, item) for item in value)
    if not isinstance(type_, StructTag):
        return 0
    definition = machine.types.datatype(type_)
    assert definition is not None
    if isinstance(value, Variant):
        assert definition.variants is not None
        fields, value = definition.variants[value.tag][1], value.fields
    else:
        fields = definition.fields or ()
    types = [substitute(field, type_.type_params) for _, field in fields]
    return sum(_in_value(machine, type_, item) for type_, item in zip(types, value, strict=True))


def _mist_to_balance(output: object) -> int:
    """Return the MIST that a change adds to an address balance; negative for a withdrawal."""
    if not isinstance(output, AccumulatorWrite) or output.type != _BALANCE:
        return 0
    assert isinstance(output.value, AccumulatorInteger)
    merged = output.operation is AccumulatorOperation.MERGE
    return output.value.value if merged else -output.value.value
