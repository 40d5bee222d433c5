"""Executing the commands of a programmable transaction."""

from collections.abc import Callable, Mapping, Sequence

from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.make_move_vec import make_move_vec
from nexus_tools.localnet.execution.merge_coins import merge_coins
from nexus_tools.localnet.execution.move_call import move_call
from nexus_tools.localnet.execution.publish import publish
from nexus_tools.localnet.execution.result import CommandResult, TypedBytes
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.split_coins import split_coins
from nexus_tools.localnet.execution.transfer_objects import transfer_objects
from nexus_tools.localnet.execution.typed_command import TypedCommand
from nexus_tools.localnet.execution.upgrade import upgrade
from nexus_tools.localnet.vm import Reference, Value
from nexus_tools.sui.transaction import (
    Command,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    Publish,
    SplitCoins,
    TransferObjects,
    Upgrade,
)

CommandTable = Mapping[type[Command], Callable[[ExecutionContext, TypedCommand], list[Value]]]

COMMANDS: CommandTable = {
    MoveCall: move_call,
    TransferObjects: transfer_objects,
    SplitCoins: split_coins,
    MergeCoins: merge_coins,
    Publish: publish,
    MakeMoveVec: make_move_vec,
    Upgrade: upgrade,
}

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
        context.gas.meter.charge_instruction()
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
    return slot.type, context.machine.encode(slot.type, referred)
