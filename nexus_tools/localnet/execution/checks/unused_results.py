"""That every result which cannot be dropped is used up.

Source: `drop_safety.rs` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.typed_command import TypedCommand
from nexus_tools.sui.execution_status import ErrorKind


def check_unused_results(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse to leave such a result behind. The error is that of no command."""
    if context.mode is Mode.INSPECT:
        return
    moved = {
        argument.slot for command in commands for argument in command.arguments if argument.moves
    }
    for index, command in enumerate(commands):
        for place, slot in enumerate(command.results):
            if not slot.abilities & Ability.DROP and slot not in moved:
                raise CommandFailed(ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (index, place))
