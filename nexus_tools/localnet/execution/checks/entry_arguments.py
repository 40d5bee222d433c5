"""What non-public entry functions may be given: nothing of a hot clique.

Source: `private_entry_arguments.rs` of `sui-adapter`.
"""

from collections.abc import Iterable, Sequence

from nexus_tools.localnet.bytecode.module import Visibility
from nexus_tools.localnet.execution.cliques import Cliques
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.errors import argument_failed
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.typed_command import (
    LoadedFunction,
    TypedArgument,
    TypedCommand,
)
from nexus_tools.sui.execution_status import ArgumentErrorKind
from nexus_tools.sui.object import Shared
from nexus_tools.sui.transaction import MakeMoveVec


def check_entry_arguments(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse arguments that something else depends on, which could force what happens next."""
    if context.mode is Mode.INSPECT or not any(map(_is_non_public_entry, commands)):
        return
    check = _EntryArguments()
    for command in context.in_turn(commands):
        check.command(command)


class _EntryArguments:
    def __init__(self) -> None:
        self._cliques = Cliques()
        self._of_slots: dict[ValueSlot, int] = {}
        self._vectors_of_shared: set[ValueSlot] = set()

    def command(self, command: TypedCommand) -> None:
        """Follow one command."""
        arguments = [each for each in command.arguments if each.argument is not None]
        used = [self._use(argument) for argument in arguments]
        if _is_non_public_entry(command):
            self._refuse_hot(arguments, used)
        merged = self._cliques.merge(used)
        if any(self._takes_shared_object(argument) for argument in arguments):
            if isinstance(command.command, MakeMoveVec):
                self._vectors_of_shared.update(command.results)
            else:
                self._cliques.heat_for_ever(merged)
        for slot in command.results:
            self._of_slots[slot] = merged
            if slot.is_hot_potato:
                self._cliques.heat(merged)

    def _use(self, argument: TypedArgument) -> int:
        clique = self._of_slots.get(argument.slot)
        if clique is None:
            clique = self._of_slots[argument.slot] = self._cliques.new()
        elif argument.moves and argument.slot.is_hot_potato and not _is_input(argument.slot):
            self._cliques.cool(clique)
        return clique

    def _refuse_hot(self, arguments: Iterable[TypedArgument], cliques: Iterable[int]) -> None:
        for argument, clique in zip(arguments, cliques, strict=True):
            if self._cliques.is_hot(clique):
                kind = ArgumentErrorKind.INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION
                raise argument_failed(argument.index, kind)

    def _takes_shared_object(self, argument: TypedArgument) -> bool:
        slot = argument.slot
        if not argument.moves:
            return False
        is_shared = slot.input is not None and isinstance(slot.input.object.owner, Shared)
        return is_shared or slot in self._vectors_of_shared


def _is_input(slot: ValueSlot) -> bool:
    """Whether this is no result: objects without `store` would seem to be hot potatoes."""
    return slot.input is not None or slot.is_gas_coin


def _is_non_public_entry(command: TypedCommand) -> bool:
    if not isinstance(command.loaded, LoadedFunction):
        return False
    function = command.loaded.function
    return function.is_entry and function.visibility is not Visibility.PUBLIC
