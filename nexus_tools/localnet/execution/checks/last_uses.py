"""Who of several that use the same value takes it away: the last one.

Source: `scope_references` and `refine` in `translate.rs` and `drop_safety.rs` of `sui-adapter`.
"""

from collections.abc import Iterator, Sequence

from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.typed_command import BORROWS, TypedArgument, TypedCommand


def move_references(commands: Sequence[TypedCommand]) -> None:
    """Let references that commands returned end with their last uses."""
    for argument in _last_uses(commands):
        if argument.slot.reference is not None:
            argument.moves = True


def move_at_last_uses(commands: Sequence[TypedCommand]) -> None:
    """Let the last use of a value move it, unless the value is lent, or borrowed at that time."""
    for argument in _last_uses(commands):
        if argument.usage not in BORROWS and not argument.is_borrowed:
            argument.moves = True


def _last_uses(commands: Sequence[TypedCommand]) -> Iterator[TypedArgument]:
    used: set[ValueSlot] = set()
    for command in reversed(commands):
        for argument in reversed(command.arguments):
            if argument.slot not in used:
                used.add(argument.slot)
                yield argument
