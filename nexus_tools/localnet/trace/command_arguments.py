"""The arguments of a command, with the values that they have before it."""

from collections.abc import Iterator

from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.move_call import is_tx_context
from nexus_tools.localnet.execution.slots import PureSlot, ReceivingSlot, Slot
from nexus_tools.localnet.trace.transaction_trace import CommandArgument
from nexus_tools.localnet.trace.value import MoveValue
from nexus_tools.localnet.trace.value_reader import ValueReader
from nexus_tools.localnet.vm import ExecutionFailure, ReferenceType, Type, substitute
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.object import MoveObject
from nexus_tools.sui.transaction import (
    Argument,
    Command,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    SplitCoins,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.type_tag import Primitive

Expected = Iterator[tuple[Argument, Type | None]]


def command_arguments(
    context: ExecutionContext, command: Command, values: ValueReader
) -> tuple[CommandArgument, ...]:
    """All arguments in order. One that the command will refuse may have no value."""
    return tuple(
        CommandArgument(argument, _value(context, argument, type_, values))
        for argument, type_ in _expected(context, command)
    )


def _expected(context: ExecutionContext, command: Command) -> Expected:
    """The arguments, with the types that the command gives to bytes."""
    match command:
        case MoveCall():
            yield from _parameters(context, command)
        case TransferObjects():
            yield from ((argument, None) for argument in command.objects)
            yield command.address, Primitive.ADDRESS
        case SplitCoins():
            yield command.coin, None
            yield from ((argument, Primitive.U64) for argument in command.amounts)
        case MergeCoins():
            yield from ((argument, None) for argument in (command.destination, *command.sources))
        case MakeMoveVec():
            yield from ((argument, command.element_type) for argument in command.elements)
        case Upgrade():
            yield command.ticket, None
        case _:
            return


def _parameters(context: ExecutionContext, command: MoveCall) -> Expected:
    function = context.machine.function(command.package, command.module, command.function)
    types: list[Type | None] = [None] * len(command.arguments)
    if function is not None and len(function.type_parameters) == len(command.type_arguments):
        parameters = [substitute(each, command.type_arguments) for each in function.parameters]
        given = [each for each in parameters if not is_tx_context(each)]
        if len(given) == len(types):
            types = [each.target if isinstance(each, ReferenceType) else each for each in given]
    yield from zip(command.arguments, types, strict=True)


def _value(
    context: ExecutionContext, argument: Argument, expected: Type | None, values: ValueReader
) -> MoveValue | None:
    try:
        return _slot_value(context, context.slot(argument, 0), expected, values)
    except (CommandFailed, ExecutionFailure, BcsError):
        return None  # the command says what is wrong with it


def _slot_value(
    context: ExecutionContext, slot: Slot, expected: Type | None, values: ValueReader
) -> MoveValue | None:
    if isinstance(slot, PureSlot):
        return None if expected is None else values.decode(expected, slot.data)  # type: ignore[arg-type]
    if isinstance(slot, ReceivingSlot):
        ticket = [[bytes(slot.reference.object_id)], slot.reference.version]
        return None if expected is None else values.read(expected, ticket)
    if slot.cell is None:  # an input that nothing has used: it is not to be touched here
        assert slot.input is not None
        data = slot.input.object.data
        assert isinstance(data, MoveObject)
        return values.read(slot.type, context.machine.decode(slot.type, data.contents))
    return values.read(slot.type, slot.cell[0]) if slot.cell else None
