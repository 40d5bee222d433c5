"""The commands of a programmable transaction: what each kind does, and in which steps.

All commands go through each step before the first one goes through the next: the functions and
types that they name are found (*load*), then their arguments are (*type*), then the checks of
`checks` are made, and only then is the first command executed (*run*). So of two mistakes the one
that an earlier step finds is reported, even if it is in a later command. Source:
`static_programmable_transactions/mod.rs` of `sui-adapter`, which is on since protocol 104
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
    Loaded,
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

Load = Callable[[ExecutionContext, Any], Loaded]
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
"""How commands are run; who watches a transaction has a table of its own."""

# --- Before the first one runs


def type_commands(context: ExecutionContext, commands: Sequence[Command]) -> list[TypedCommand]:
    """The commands, ready to be executed. Raises `CommandFailed`."""
    loaded = [_load(context, command) for command in context.in_turn(commands)]
    typer = ArgumentTyper(context)
    typed = []
    for command, names in zip(context.in_turn(commands), loaded, strict=True):
        _, type_command, _ = _STEPS[type(command)]
        ready = type_command(typer, command, names)
        context.results.append(ready.results)
        typed.append(ready)
    check_commands(context, typer, typed)
    return typed


def _load(context: ExecutionContext, command: Command) -> Loaded:
    load, _, _ = _STEPS[type(command)]
    return None if load is None else load(context, command)


# --- Running them

TypedBytes = tuple[TypeTag, bytes]


class CommandResult(Struct, frozen=True):
    """What a command returned, and what it made of arguments that it took by `&mut`, as BCS."""

    return_values: tuple[TypedBytes, ...]
    mutated_by_reference: tuple[tuple[Argument, TypeTag, bytes], ...]


_REPORTING = frozenset({Mode.SIMULATE, Mode.INSPECT})


def run_commands(
    context: ExecutionContext,
    commands: Sequence[TypedCommand],
    table: CommandTable,
    reports: list[CommandResult],
) -> None:
    """Run all commands in order; a simulation reports each. Raises one of `EXECUTION_FAILURES`."""
    for command in context.in_turn(commands):
        values = table[type(command.command)](context, command)
        context.gas.meter.charge_instruction()  # besides what it did
        if context.mode in _REPORTING:
            reports.append(_report(context, command, values))
        for slot, value in zip(command.results, values, strict=True):
            slot.cell = [value]


def _report(
    context: ExecutionContext, command: TypedCommand, values: Sequence[Value]
) -> CommandResult:
    return CommandResult(
        tuple(
            _encoded(context, slot, value)
            for slot, value in zip(command.results, values, strict=True)
        ),
        tuple(
            (argument, *_encoded(context, slot, slot.cell[0]))
            for argument, slot in command.mutated
            if slot.cell
        ),
    )


def _encoded(context: ExecutionContext, slot: ValueSlot, value: Value) -> TypedBytes:
    """A value as BCS; of a reference, what it refers to."""
    referred = value.read() if isinstance(value, Reference) else value
    return slot.type, context.machine.types.encode(slot.type, referred)
