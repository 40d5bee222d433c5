"""The recorder of commands and their arguments during an execution."""

from collections.abc import Callable

from msgspec.structs import replace

from nexus_tools.sui.localnet.execution import (
    CommandTable,
    ExecutionContext,
    TypedCommand,
    ValueSlot,
)
from nexus_tools.sui.localnet.trace.call_recorder import CallRecorder
from nexus_tools.sui.localnet.trace.transaction_trace import (
    CallStatus,
    CallTrace,
    CommandArgument,
    CommandTrace,
)
from nexus_tools.sui.localnet.trace.value import MoveValue
from nexus_tools.sui.localnet.trace.value_reader import ValueReader
from nexus_tools.sui.localnet.vm import Reference, Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.transaction import Command, Publish, Upgrade

_Execute = Callable[[ExecutionContext, TypedCommand], list[Value]]


class CommandRecorder:
    """A recorder of the executed commands of one transaction, with the calls of each command."""

    def __init__(self, calls: CallRecorder, values: ValueReader) -> None:
        self._calls = calls
        self._values = values
        self.commands: list[CommandTrace] = []

    def table(self, commands: CommandTable) -> CommandTable:
        """Return a command table that also records each command."""
        return {kind: self._recorded(execute) for kind, execute in commands.items()}

    def _recorded(self, execute: _Execute) -> _Execute:
        def run(context: ExecutionContext, command: TypedCommand) -> list[Value]:
            arguments = command_arguments(context, command, self._values)
            self._calls.begin(context.gas.meter)
            try:
                values = execute(context, command)
            except BaseException:
                self._note(context, command.command, arguments, None, ())
                raise
            results = tuple(
                read(slot, value, self._values)
                for slot, value in zip(command.results, values, strict=True)
            )
            package = _published(context, command.command)
            after = self._with_after(context, arguments, command)
            self._note(context, command.command, after, package, results)
            return values

        return run

    def _note(
        self,
        context: ExecutionContext,
        command: Command,
        arguments: tuple[CommandArgument, ...],
        package: Address | None,
        results: tuple[MoveValue, ...],
    ) -> None:
        running = self._calls.end()
        self.commands.append(
            CommandTrace(
                command=command,
                status=CallStatus.RETURNED,
                arguments=arguments,
                results=results,
                gas=running.gas(context.gas.meter),
                steps=tuple(running.steps),
                package=package,
                left_out=running.left_out,
            )
        )

    def _with_after(
        self,
        context: ExecutionContext,
        arguments: tuple[CommandArgument, ...],
        command: TypedCommand,
    ) -> tuple[CommandArgument, ...]:
        changed = {
            argument: slot_value(context, slot, self._values)
            for argument, slot in command.mutated
            if slot.cell
        }
        return tuple(
            replace(item, after=changed[item.argument])
            if changed.get(item.argument, item.value) != item.value
            else item
            for item in arguments
        )


def _published(context: ExecutionContext, command: Command) -> Address | None:
    return context.new_packages[-1].id if isinstance(command, Publish | Upgrade) else None


def with_status(
    recorded: list[CommandTrace], commands: tuple[Command, ...], failed: int | None
) -> tuple[CommandTrace, ...]:
    """Return traces of all commands with their status. Add traces for commands that did not run."""
    run = [
        replace(trace, status=_failed_status(trace)) if index == failed else trace
        for index, trace in enumerate(recorded)
    ]
    return (
        *run,
        *(
            CommandTrace(command, CallStatus.FAILED if index == failed else CallStatus.NOT_RUN)
            for index, command in enumerate(commands[len(run) :], len(run))
        ),
    )


def _failed_status(command: CommandTrace) -> CallStatus:
    """Return FAILED if the command itself failed, or UNWOUND if a called function failed."""
    is_unwound = any(
        isinstance(step, CallTrace) and step.status is not CallStatus.RETURNED
        for step in command.steps
    )
    return CallStatus.UNWOUND if is_unwound else CallStatus.FAILED


def command_arguments(
    context: ExecutionContext, command: TypedCommand, values: ValueReader
) -> tuple[CommandArgument, ...]:
    """Return all arguments of a command in order."""
    return tuple(
        CommandArgument(argument.argument, slot_value(context, argument.slot, values))
        for argument in command.arguments
        if argument.argument is not None
    )


def slot_value(context: ExecutionContext, slot: ValueSlot, values: ValueReader) -> MoveValue | None:
    """Return the value in a slot, or a reference's target, or None if the value was moved."""
    if slot.cell is None:  # the input is unused, and a trace must not mark it as used
        assert slot.input is not None
        data = slot.input.object.data
        assert isinstance(data, MoveObject)
        return values.read(slot.type, context.machine.types.decode(slot.type, data.contents))
    return read(slot, slot.cell[0], values) if slot.cell else None


def read(slot: ValueSlot, value: Value, values: ValueReader) -> MoveValue:
    """Copy a value of the slot's type, or the target of a reference."""
    return values.read(slot.type, value.read() if isinstance(value, Reference) else value)
