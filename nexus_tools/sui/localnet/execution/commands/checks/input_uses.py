"""The check that pure inputs are valid values and that commands use input objects as allowed.

Source: `input_arguments.rs` of `sui-adapter`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper, FirstUse
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    PureSlot,
    ReceivingSlot,
    TypedArgument,
    TypedCommand,
    Usage,
)
from nexus_tools.sui.localnet.execution.environment import Mode
from nexus_tools.sui.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.sui.localnet.execution.inputs import InputObject, pure_check
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.execution_status import ArgumentErrorKind
from nexus_tools.sui.types.transaction import TransferObjects
from nexus_tools.sui.types.type_tag import RECEIVING, StructTag, TypeTag


def check_inputs(
    context: ExecutionContext, typer: ArgumentTyper, commands: Sequence[TypedCommand]
) -> None:
    """Decode pure and receiving inputs, and check how commands use objects."""
    _fill(context, typer.pure)
    _fill(context, typer.receiving)
    for command in context.in_turn(commands):
        for argument in command.arguments:
            if argument.slot.input is not None:
                _check_object(argument, argument.slot.input)
        if not isinstance(command.command, TransferObjects):
            _check_gas_coin(command)


def _fill(context: ExecutionContext, uses: Iterable[FirstUse]) -> None:
    for use in uses:
        context.command_index = use.command
        read = _pure_value if isinstance(use.input, PureSlot) else _ticket
        use.slot.cell = [read(context, use)]
    context.command_index = None


def _pure_value(context: ExecutionContext, use: FirstUse) -> Value:
    assert isinstance(use.input, PureSlot)
    check = pure_check(use.slot.type)
    if check is None and context.mode is not Mode.INSPECT:
        raise argument_failed(use.index, ArgumentErrorKind.INVALID_USAGE_OF_PURE_ARGUMENT)
    try:
        value = context.machine.types.decode(use.slot.type, use.input.data)
    except BcsError:
        raise _bad_bytes(use) from None
    if check is not None and not check(value):
        raise _bad_bytes(use)
    return value


def _bad_bytes(use: FirstUse) -> CommandFailed:
    return argument_failed(use.index, ArgumentErrorKind.INVALID_BCS_BYTES)


def _ticket(context: ExecutionContext, use: FirstUse) -> Value:
    assert isinstance(use.input, ReceivingSlot)
    if not _is_receiving(context, use.slot.type):
        raise argument_failed(use.index, ArgumentErrorKind.TYPE_MISMATCH)
    reference = use.input.reference
    return [[bytes(reference.object_id)], reference.version]


def _is_receiving(context: ExecutionContext, tag: TypeTag) -> bool:
    return (
        isinstance(tag, StructTag)
        and tag.datatype == RECEIVING
        and Ability.KEY in context.abilities(tag.type_params[0])
    )


def _check_object(argument: TypedArgument, input_object: InputObject) -> None:
    """Refuse an argument that moves or changes a read-only object."""
    if input_object.mutable:
        return
    if argument.usage is Usage.BORROW_MUTABLY:
        raise argument_failed(argument.index, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
    if argument.moves:
        raise argument_failed(argument.index, ArgumentErrorKind.INVALID_OBJECT_BY_VALUE)


def _check_gas_coin(command: TypedCommand) -> None:
    """Refuse an argument that moves the gas coin. Only `TransferObjects` may move the coin."""
    for argument in command.arguments:
        if argument.slot.is_gas_coin and argument.moves:
            raise argument_failed(argument.index, ArgumentErrorKind.INVALID_GAS_COIN_USAGE)
