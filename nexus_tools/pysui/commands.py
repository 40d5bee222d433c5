"""Conversion of commands between our transaction builder and pysui's builder.

Both builders collect the same inputs and commands, so a command is converted through its BCS bytes.
Objects are passed to pysui by their IDs, because pysui looks up their owners and versions when it
builds the transaction.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import asdict, replace
from pysui.sui.sui_bcs import bcs
from pysui.sui.sui_pgql.pgql_types import RefType

from nexus_tools.sui.bcs import fixed
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.transaction import (
    COMMAND,
    INPUT,
    OBJECT_ARGUMENT,
    Argument,
    Command,
    Input,
    InputArgument,
    NestedResult,
    Pure,
    ReceivingObject,
    Result,
    SharedObject,
)


def add_commands(builder: TransactionBuilder, target: Any) -> None:
    """Append the inputs and commands of a builder to a `ProgrammableTransactionBuilder` of pysui.

    If the builder needs a mutable object that is already an input, the input becomes mutable.
    """
    # pysui looks up which objects are shared, so the type and the version do not matter here.
    objects = {
        value.object_id: SharedObject(value.object_id, 0, value.mutable)
        for value in builder.unresolved()
    }
    program = builder.finish(objects)
    inputs = {
        index: InputArgument(_add_input(target, value))
        for index, value in enumerate(program.inputs)
    }
    first = len(target.commands)
    for command in program.commands:
        moved = _moved(command, inputs, first)
        target.command(bcs.Command.deserialize(COMMAND.encode(moved)))


def builder_of(source: Any) -> TransactionBuilder:
    """Return a builder with the inputs and commands of a `ProgrammableTransactionBuilder`."""
    builder = TransactionBuilder()
    inputs = {
        index: _read_input(builder, value) for index, value in enumerate(source.inputs.values())
    }
    for command in source.commands:
        builder.command(_moved(COMMAND.decode(bytes(command.serialize())), inputs, 0))
    return builder


def _moved(command: Command, inputs: Mapping[int, InputArgument], first: int) -> Command:
    """Return a command with its inputs replaced, and its result indices increased by `first`."""

    def move(argument: Argument) -> Argument:
        match argument:
            case InputArgument(index):
                return inputs[index]
            case Result(index):
                return Result(first + index)
            case NestedResult(index, value):
                return NestedResult(first + index, value)
        return argument

    return replace(
        command, **{name: _mapped(move, value) for name, value in asdict(command).items()}
    )


def _mapped(move: Callable[[Argument], Argument], value: Any) -> Any:
    """Apply `move` to a field of a command, which contains one or several arguments."""
    return tuple(map(move, value)) if isinstance(value, tuple) else move(value)


# --- Inputs for pysui


def _add_input(target: Any, value: Input) -> int:
    """Add an input and return its index."""
    index = len(target.inputs)
    if isinstance(value, Pure):
        # `input_pure` would use one input for equal values, but a command may change an input.
        key = bcs.BuilderArg("Pure", list(value.value))
        target.inputs[key] = bcs.CallArg("Pure", key.value)
    elif isinstance(value, FundsWithdrawal):
        target.input_obj_from_withdrawal(bcs.CallArg.deserialize(INPUT.encode(value)).value)
    else:
        is_mutable = isinstance(value, SharedObject) and value.mutable
        known = _find_object(target, value.object_id)
        if known is not None:
            _make_mutable(target, known, mutable=is_mutable)
            return known
        kind = RefType.MUT_REF if is_mutable else RefType.REF
        is_received = isinstance(value, ReceivingObject)
        argument = bcs.UnresolvedObjectArg(str(value.object_id), False, is_received, kind, "")
        target.input_obj_from_unresolved_object(argument)
    return index


def _find_object(target: Any, object_id: Address) -> int | None:
    """Return the index of the input for an object, or None if it is not an input."""
    for index, (key, _) in enumerate(target.inputs.items()):
        if key.enum_name == "Unresolved" and Address.parse(key.value) == object_id:
            return index
        if key.enum_name == "Object" and Address.parse(key.value.to_address_str()) == object_id:
            return index
    return None


def _make_mutable(target: Any, index: int, *, mutable: bool) -> None:
    value = [*target.inputs.values()][index]
    if not mutable:
        return
    if value.enum_name == "UnresolvedObject":
        value.value.RefType = RefType.MUT_REF
    elif value.value.enum_name == "SharedObject":
        value.value.value.Mutable = True


# --- Inputs from pysui


def _read_input(builder: TransactionBuilder, value: Any) -> InputArgument:
    """Add an input of pysui to our builder."""
    match value.enum_name:
        case "Pure":
            content = bytes(value.value)
            return builder.pure(fixed(len(content), bytes), content)
        case "UnresolvedObject":
            is_mutable = value.value.RefType == RefType.MUT_REF
            return builder.object(Address.parse(value.value.ObjectStr), mutable=is_mutable)
        case "Object":
            return builder.resolved(OBJECT_ARGUMENT.decode(bytes(value.value.serialize())))
    withdrawal = INPUT.decode(bytes(value.serialize()))
    assert isinstance(withdrawal, FundsWithdrawal)
    return builder.withdrawal(withdrawal.amount, withdrawal.type)
