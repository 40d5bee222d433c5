"""The table of command kinds, and the steps that check and run the commands of a transaction.

Each step handles all commands before the next step starts. The steps look up functions and types
(*load*), determine the types of arguments (*type*), run the checks of the package `checks`, and
execute the commands (*run*). So if two commands fail in different steps, the result has the error
of the earlier step, even if the error is from the later command. Source:
`static_programmable_transactions/mod.rs` of `sui-adapter`, which is enabled since protocol 104
(`enable_ptb_execution_v2`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.checks import check_commands
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.make_move_vec import (
    load_element_type,
    make_move_vec,
    type_make_move_vec,
)
from nexus_tools.sui.localnet.execution.commands.merge_coins import merge_coins, type_merge_coins
from nexus_tools.sui.localnet.execution.commands.move_call import (
    load_function,
    move_call,
    type_move_call,
)
from nexus_tools.sui.localnet.execution.commands.publish import (
    load_dependencies,
    publish,
    type_publish,
)
from nexus_tools.sui.localnet.execution.commands.split_coins import split_coins, type_split_coins
from nexus_tools.sui.localnet.execution.commands.transfer_objects import (
    transfer_objects,
    type_transfer_objects,
)
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    CommandTarget,
    TypedCommand,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.commands.upgrade import type_upgrade, upgrade
from nexus_tools.sui.localnet.execution.environment import Mode
from nexus_tools.sui.localnet.vm import Reference, Value
from nexus_tools.sui.types.transaction import (
    Argument,
    Command,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    Publish,
    SplitCoins,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import TypeTag

Load = Callable[[ExecutionContext, Any], CommandTarget]
Type = Callable[[ArgumentTyper, Any, Any], TypedCommand]
Run = Callable[[ExecutionContext, TypedCommand], list[Value]]

_STEPS: Mapping[type[Command], tuple[Load | None, Type, Run]] = {
    MoveCall: (load_function, type_move_call, move_call),
    TransferObjects: (None, type_transfer_objects, transfer_objects),
    SplitCoins: (None, type_split_coins, split_coins),
    MergeCoins: (None, type_merge_coins, merge_coins),
    Publish: (load_dependencies, type_publish, publish),
    MakeMoveVec: (load_element_type, type_make_move_vec, make_move_vec),
    Upgrade: (load_dependencies, type_upgrade, upgrade),
}

CommandTable = Mapping[type[Command], Run]
COMMANDS: CommandTable = {kind: run for kind, (_, _, run) in _STEPS.items()}
"""The functions that run commands, by kind of command. A trace uses a different table."""

# --- Before the first command runs


def type_commands(context: ExecutionContext, commands: Sequence[Command]) -> list[TypedCommand]:
    """Load the commands, determine the types of their arguments, and check the commands.

    Raises:
        CommandFailed: a command violates a rule.
    """
    targets = [_load(context, command) for command in context.in_turn(commands)]
    typer = ArgumentTyper(context)
    typed_commands = []
    for command, target in zip(context.in_turn(commands), targets, strict=True):
        _, type_command, _ = _STEPS[type(command)]
        typed_command = type_command(typer, command, target)
        context.results.append(typed_command.results)
        typed_commands.append(typed_command)
    check_commands(context, typer, typed_commands)
    return typed_commands


def _load(context: ExecutionContext, command: Command) -> CommandTarget:
    load, _, _ = _STEPS[type(command)]
    return None if load is None else load(context, command)


# --- Execution

TypedBytes = tuple[TypeTag, bytes]


class CommandResult(Struct, frozen=True):
    """A command's return values and the final values of its `&mut` arguments, as BCS."""

    return_values: tuple[TypedBytes, ...]
    mutated_by_reference: tuple[tuple[Argument, TypeTag, bytes], ...]


_REPORTING = frozenset({Mode.SIMULATE, Mode.INSPECT})


def run_commands(
    context: ExecutionContext,
    commands: Sequence[TypedCommand],
    table: CommandTable,
    reports: list[CommandResult],
) -> None:
    """Run all commands in order. A simulation appends the results of each command to `reports`.

    Raises:
        Exception: one of `EXECUTION_FAILURES`.
    """
    for command in context.in_turn(commands):
        values = table[type(command.command)](context, command)
        context.gas.meter.charge_instruction()  # the command's own charges are separate
        if context.mode in _REPORTING:
            reports.append(_report(context, command, values))
        for slot, value in zip(command.results, values, strict=True):
            slot.cell = [value]


def _report(
    context: ExecutionContext, command: TypedCommand, values: Sequence[Value]
) -> CommandResult:
    return CommandResult(
        tuple(
            _typed_bytes(context, slot, value)
            for slot, value in zip(command.results, values, strict=True)
        ),
        tuple(
            (argument, *_typed_bytes(context, slot, slot.cell[0]))
            for argument, slot in command.mutated
            if slot.cell
        ),
    )


def _typed_bytes(context: ExecutionContext, slot: ValueSlot, value: Value) -> TypedBytes:
    """Encode a value, or the target of a reference, as BCS."""
    target = value.read() if isinstance(value, Reference) else value
    return slot.type, context.machine.types.encode(slot.type, target)
