"""Running the commands of a programmable transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.make_move_vec import make_move_vec
from nexus_tools.localnet.execution.merge_coins import merge_coins
from nexus_tools.localnet.execution.move_call import move_call
from nexus_tools.localnet.execution.publish import publish
from nexus_tools.localnet.execution.result import CommandResult
from nexus_tools.localnet.execution.split_coins import split_coins
from nexus_tools.localnet.execution.transfer_objects import transfer_objects
from nexus_tools.localnet.execution.upgrade import upgrade
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

CommandTable = Mapping[type[Command], Callable[[ExecutionContext, Any], CommandOutcome]]

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


class CommandRun:
    """The commands of one transaction: `index` is the one that runs, None before and after."""

    def __init__(
        self, context: ExecutionContext, commands: Sequence[Command], table: CommandTable
    ) -> None:
        self._context = context
        self._commands = commands
        self._table = table
        self.index: int | None = None
        self.results: list[CommandResult] = []

    def run(self) -> None:
        """Run all commands in order. Raises one of `EXECUTION_FAILURES`."""
        context, reporting = self._context, self._context.mode in _REPORTING
        for index, command in enumerate(self._commands):
            self.index = index
            outcome = self._table[type(command)](context, command)
            context.gas.meter.charge_work(1, 0, 0)
            if reporting:
                self.results.append(self._report(outcome))
            context.add_results(outcome.results, outcome.arguments.finish())
        self.index = None

    def _report(self, outcome: CommandOutcome) -> CommandResult:
        encode = self._context.machine.encode
        return CommandResult(
            tuple((result.type, encode(result.type, result.value)) for result in outcome.results),
            tuple(
                (argument, slot.type, encode(slot.type, slot.cell[0]))
                for argument, slot in outcome.arguments.mutated
                if slot.cell
            ),
        )
