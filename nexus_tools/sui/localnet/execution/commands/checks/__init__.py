"""The checks of a transaction's typed commands before any of them is executed.

Source: `static_programmable_transactions/typing/verify` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.checks.drop_safety import (
    check_unused_results,
    last_uses,
    move_at_last_uses,
    move_references,
)
from nexus_tools.sui.localnet.execution.commands.checks.function_access import (
    check_entry_arguments,
    check_functions,
)
from nexus_tools.sui.localnet.execution.commands.checks.input_uses import check_inputs
from nexus_tools.sui.localnet.execution.commands.checks.memory_safety import check_memory_safety
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand

__all__ = ["check_commands"]


def check_commands(
    context: ExecutionContext, typer: ArgumentTyper, commands: Sequence[TypedCommand]
) -> None:
    """Run all checks, and mark the arguments that move their values.

    Raises:
        CommandFailed: a command violates a rule.
    """
    # The order matters. References end with their last uses, so `move_references` comes before the
    # check of memory safety. The check of memory safety marks arguments that copy a borrowed value.
    # After that, `move_at_last_uses` lets each last use move its value, except borrows and marked
    # copies.
    last = last_uses(commands)
    move_references(last)
    check_inputs(context, typer, commands)
    check_functions(context, commands)
    check_memory_safety(context, commands)
    move_at_last_uses(last)
    check_unused_results(context, commands, last)
    check_entry_arguments(context, commands)
