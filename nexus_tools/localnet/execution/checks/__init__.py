"""What is checked of the typed commands of a transaction before any of them is executed.

Source: `static_programmable_transactions/typing/verify` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.localnet.execution.argument_typing import ArgumentTyper
from nexus_tools.localnet.execution.checks.callable_functions import check_functions
from nexus_tools.localnet.execution.checks.entry_arguments import check_entry_arguments
from nexus_tools.localnet.execution.checks.input_uses import check_inputs
from nexus_tools.localnet.execution.checks.last_uses import move_at_last_uses, move_references
from nexus_tools.localnet.execution.checks.memory_safety import check_memory_safety
from nexus_tools.localnet.execution.checks.unused_results import check_unused_results
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.typed_command import TypedCommand

__all__ = ["check_commands"]


def check_commands(
    context: ExecutionContext, typer: ArgumentTyper, commands: Sequence[TypedCommand]
) -> None:
    """Make all checks, and mark the arguments that move their values. Raises `CommandFailed`."""
    move_references(commands)
    check_inputs(context, typer, commands)
    check_functions(context, commands)
    check_memory_safety(context, commands)
    move_at_last_uses(commands)
    check_unused_results(context, commands)
    check_entry_arguments(context, commands)
