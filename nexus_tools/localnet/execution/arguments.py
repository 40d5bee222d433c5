"""Handing the values of a transaction to its commands: by value, by `&`, by `&mut`.

That they may be used so has been checked before the first command is executed.
"""

from collections.abc import Callable, Iterable, Mapping

from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.typed_command import TypedArgument, Usage
from nexus_tools.localnet.vm import Reference, Value, copy_value


def take_all(context: ExecutionContext, arguments: Iterable[TypedArgument]) -> list[Value]:
    """The values of arguments, in their order."""
    return [take(context, argument) for argument in arguments]


def take(context: ExecutionContext, argument: TypedArgument) -> Value:
    """The value of an argument, or a reference to it. Raises `OutOfGas`."""
    return _TAKE[argument.usage](context, argument.slot, argument.moves)


def _by_value(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Value:
    (value,) = context.cell(slot)
    if moves:
        context.charge_reference()
        slot.cell = []
        return value
    if slot.reference is not None:
        context.charge_reference()
        return value
    context.charge_copy(slot.type, value)
    return copy_value(value)


def _borrow(context: ExecutionContext, slot: ValueSlot, _moves: bool) -> Reference:
    context.charge_reference()
    return Reference(context.cell(slot), 0)


def _borrow_mutably(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Reference:
    slot.lent_mutably = True
    return _borrow(context, slot, moves)


def _read(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Value:
    value = _by_value(context, slot, moves).read()
    context.charge_copy(slot.type, value)
    return copy_value(value)


_TAKE: Mapping[Usage, Callable[[ExecutionContext, ValueSlot, bool], Value]] = {
    Usage.BY_VALUE: _by_value,
    Usage.BORROW: _borrow,
    Usage.BORROW_MUTABLY: _borrow_mutably,
    Usage.READ: _read,
    Usage.FREEZE: _by_value,
}
