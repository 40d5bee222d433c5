"""The commands of a programmable transaction, with one module for each kind, and a table.

Start reading with `table.py`.
"""

from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.table import (
    COMMANDS,
    CommandResult,
    CommandTable,
    run_commands,
    type_commands,
)
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand, ValueSlot

__all__ = [
    "COMMANDS",
    "CommandResult",
    "CommandTable",
    "ExecutionContext",
    "TypedCommand",
    "ValueSlot",
    "run_commands",
    "type_commands",
]
