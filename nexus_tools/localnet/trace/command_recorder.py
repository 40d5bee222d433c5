"""Recording commands while they are executed."""

from collections.abc import Callable
from dataclasses import replace

from nexus_tools.localnet.execution.commands import CommandTable
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.typed_command import TypedCommand
from nexus_tools.localnet.trace.call_recorder import CallRecorder
from nexus_tools.localnet.trace.command_arguments import command_arguments, read, slot_value
from nexus_tools.localnet.trace.transaction_trace import (
    CallTrace,
    CommandArgument,
    CommandTrace,
    Outcome,
)
from nexus_tools.localnet.trace.value import MoveValue
from nexus_tools.localnet.trace.value_reader import ValueReader
from nexus_tools.localnet.vm import Value
from nexus_tools.sui.address import Address
from nexus_tools.sui.transaction import Command, Publish, Upgrade

_Execute = Callable[[ExecutionContext, TypedCommand], list[Value]]


class CommandRecorder:
    """The commands of one transaction that were run, each with its calls."""

    def __init__(self, calls: CallRecorder, values: ValueReader) -> None:
        self._calls = calls
        self._values = values
        self.commands: list[CommandTrace] = []

    def table(self, commands: CommandTable) -> CommandTable:
        """The commands of a table, executed as there and recorded."""
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
                outcome=Outcome.RETURNED,
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
            replace(each, after=changed[each.argument])
            if changed.get(each.argument, each.value) != each.value
            else each
            for each in arguments
        )


def _published(context: ExecutionContext, command: Command) -> Address | None:
    return context.new_packages[-1].id if isinstance(command, Publish | Upgrade) else None


def with_outcomes(
    recorded: list[CommandTrace], commands: tuple[Command, ...], failed: int | None
) -> tuple[CommandTrace, ...]:
    """All commands of a transaction: those that were run, the failed one, and the others."""
    run = [
        replace(each, outcome=_failed_outcome(each)) if index == failed else each
        for index, each in enumerate(recorded)
    ]
    return (
        *run,
        *(
            CommandTrace(each, Outcome.FAILED if index == failed else Outcome.NOT_RUN)
            for index, each in enumerate(commands[len(run) :], len(run))
        ),
    )


def _failed_outcome(command: CommandTrace) -> Outcome:
    """Whether the command itself failed, or a function that it called."""
    fell = any(
        isinstance(step, CallTrace) and step.outcome is not Outcome.RETURNED
        for step in command.steps
    )
    return Outcome.UNWOUND if fell else Outcome.FAILED
