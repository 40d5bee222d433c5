"""That values are used while they are there, and that references to them do not collide.

Source: `memory_safety.rs` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.execution.commands.checks.borrow_graph import (
    BorrowedReference,
    BorrowGraph,
    not_transferable,
)
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    BORROWS,
    LoadedFunction,
    TypedArgument,
    TypedCommand,
    Usage,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.errors import argument_failed
from nexus_tools.sui.types.execution_status import ArgumentErrorKind
from nexus_tools.sui.types.transaction import MergeCoins, SplitCoins

Given = tuple[TypedArgument, BorrowedReference]


def check_memory_safety(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse uses of values that are gone, and references of which one is in the way of another.

    Copies are marked whose values are borrowed.
    """
    check = _MemorySafety(context.gas_slot, commands)
    for command in context.in_turn(commands):
        check.command(command)


class _MemorySafety:
    def __init__(self, gas_coin: ValueSlot, commands: Sequence[TypedCommand]) -> None:
        self._graph = BorrowGraph()
        self._empty = set() if gas_coin.cell else {gas_coin}
        self._commands = commands
        self._references: dict[ValueSlot, BorrowedReference] = {}

    def command(self, command: TypedCommand) -> None:
        """Follow one command."""
        if self._is_without_conflict(command):
            for argument in command.arguments:
                self._use_value(argument)
            return
        given: list[Given] = []
        for argument in command.arguments:
            reference = self._use(argument)
            if reference is not None:
                given.append((argument, reference))
        returned: Sequence[BorrowedReference] = ()
        if isinstance(command.loaded, LoadedFunction):
            returned = self._call(command, given)
        elif isinstance(command.command, SplitCoins | MergeCoins):
            _check_write(*given[0])
        for _, reference in given:
            self._graph.release(reference)
        self._keep(command, returned)

    def _is_without_conflict(self, command: TypedCommand) -> bool:
        """Whether no reference can be in the way, so that none need be followed.

        So it is with nearly all commands: no reference is alive, none is returned, and each
        argument is of another place, so that those which the command itself borrows do not meet.
        """
        if self._references or any(slot.reference is not None for slot in command.results):
            return False
        return len({argument.slot for argument in command.arguments}) == len(command.arguments)

    def _use(self, argument: TypedArgument) -> BorrowedReference | None:
        """What the command gets; a reference, if it is one."""
        slot, borrowed = argument.slot, self._graph.is_borrowed(argument.slot)
        if argument.moves and borrowed:
            raise argument_failed(argument.index, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
        argument.is_borrowed = borrowed
        self._use_value(argument)
        if argument.usage in BORROWS:
            return self._graph.borrow(slot, mutable=argument.usage is Usage.BORROW_MUTABLY)
        return None if slot.reference is None else self._use_reference(argument)

    def _use_value(self, argument: TypedArgument) -> None:
        """Note that a slot is empty behind an argument that moves its value."""
        if argument.slot in self._empty:
            raise argument_failed(argument.index, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
        if argument.moves:
            self._empty.add(argument.slot)

    def _use_reference(self, argument: TypedArgument) -> BorrowedReference | None:
        # The last use hands on the reference itself, earlier ones a copy of it. READ hands on a
        # value, and no reference; FREEZE a copy that is immutable, even when it is the last use.
        reference = self._references[argument.slot]
        if argument.moves:
            del self._references[argument.slot]
            if argument.usage is Usage.BY_VALUE:
                return reference
        used: BorrowedReference | None = None
        if argument.usage is not Usage.READ:
            mutable = reference.mutable and argument.usage is Usage.BY_VALUE
            used = self._graph.copy(reference, mutable=mutable)
        if argument.moves:
            self._graph.release(reference)
        return used

    def _call(self, command: TypedCommand, given: Sequence[Given]) -> list[BorrowedReference]:
        references = [reference for _, reference in given]
        wrong = not_transferable(references)
        if wrong is not None:
            index = next(argument.index for argument, reference in given if reference is wrong)
            raise argument_failed(index, ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT)
        mutable = [slot.reference for slot in command.results if slot.reference is not None]
        return self._graph.call(references, mutable)

    def _keep(self, command: TypedCommand, returned: Sequence[BorrowedReference]) -> None:
        """Note the references that are used later; the others end at once."""
        slots = (slot for slot in command.results if slot.reference is not None)
        for slot, reference in zip(slots, returned, strict=True):
            if self._is_used(slot):
                self._references[slot] = reference
            else:
                self._graph.release(reference)

    def _is_used(self, slot: ValueSlot) -> bool:
        return any(
            argument.slot is slot for command in self._commands for argument in command.arguments
        )


def _check_write(argument: TypedArgument, reference: BorrowedReference) -> None:
    if not reference.is_writable:
        kind = ArgumentErrorKind.CANNOT_WRITE_TO_EXTENDED_REFERENCE
        raise argument_failed(argument.index, kind)
