"""The arguments of a command, with the values that they have before it."""

from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.typed_command import TypedCommand
from nexus_tools.localnet.trace.transaction_trace import CommandArgument
from nexus_tools.localnet.trace.value import MoveValue
from nexus_tools.localnet.trace.value_reader import ValueReader
from nexus_tools.localnet.vm import Reference, Value
from nexus_tools.sui.object import MoveObject


def command_arguments(
    context: ExecutionContext, command: TypedCommand, values: ValueReader
) -> tuple[CommandArgument, ...]:
    """All arguments in order."""
    return tuple(
        CommandArgument(each.argument, slot_value(context, each.slot, values))
        for each in command.arguments
        if each.argument is not None
    )


def slot_value(context: ExecutionContext, slot: ValueSlot, values: ValueReader) -> MoveValue | None:
    """The value of a slot, or what a reference in it refers to; None if it is gone."""
    if slot.cell is None:  # an input that nothing has used: it is not to be touched here
        assert slot.input is not None
        data = slot.input.object.data
        assert isinstance(data, MoveObject)
        return values.read(slot.type, context.machine.decode(slot.type, data.contents))
    return read(slot, slot.cell[0], values) if slot.cell else None


def read(slot: ValueSlot, value: Value, values: ValueReader) -> MoveValue:
    """A value that belongs into the slot; of a reference, what it refers to."""
    return values.read(slot.type, value.read() if isinstance(value, Reference) else value)
