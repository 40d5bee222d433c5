"""The moves of values at their last uses, and the check that values without `drop` are moved.

If several arguments use one value, the last argument moves the value. For example, `f(x); g(x)`
copies `x` for `f` and moves `x` to `g`. Source: `scope_references` and `refine` in `translate.rs`,
and `drop_safety.rs` of `sui-adapter`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    BORROWS,
    TypedArgument,
    TypedCommand,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.environment import Mode
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.types.execution_status import ErrorKind


def last_uses(commands: Sequence[TypedCommand]) -> list[TypedArgument]:
    """Return the last argument that uses each slot."""
    used_slots: set[ValueSlot] = set()
    last = []
    for command in reversed(commands):
        for argument in reversed(command.arguments):
            if argument.slot not in used_slots:
                used_slots.add(argument.slot)
                last.append(argument)
    return last


def move_references(last: Iterable[TypedArgument]) -> None:
    """Let the last use of each returned reference move the reference, which ends its lifetime."""
    for argument in last:
        if argument.slot.reference is not None:
            argument.moves = True


def move_at_last_uses(last: Iterable[TypedArgument]) -> None:
    """Let the last use of a value move it, unless the use or a live reference borrows the value."""
    for argument in last:
        if argument.usage not in BORROWS and not argument.is_borrowed:
            argument.moves = True


def check_unused_results(
    context: ExecutionContext, commands: Sequence[TypedCommand], last: Iterable[TypedArgument]
) -> None:
    """Refuse a result without `drop` that no argument moves. The error has no command index."""
    if context.mode is Mode.INSPECT:
        return
    moved_slots = {argument.slot for argument in last if argument.moves}
    for index, command in enumerate(commands):
        for place, slot in enumerate(command.results):
            if Ability.DROP not in slot.abilities and slot not in moved_slots:
                raise CommandFailed(ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (index, place))
