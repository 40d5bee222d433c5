"""The check that commands use no moved values and no conflicting references.

Source: `memory_safety.rs` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.sui.localnet.execution.commands.checks.borrow_graph import (
    BorrowedReference,
    BorrowGraph,
    first_conflict,
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

ReferenceArgument = tuple[TypedArgument, BorrowedReference]


def check_memory_safety(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse uses of moved values and conflicting references.

    Set `is_borrowed` of arguments that copy a borrowed value.
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
        """Process one command."""
        if self._is_without_conflict(command):
            for argument in command.arguments:
                self._use_value(argument)
            return
        arguments: list[ReferenceArgument] = []
        for argument in command.arguments:
            reference = self._use(argument)
            if reference is not None:
                arguments.append((argument, reference))
        returned: Sequence[BorrowedReference] = ()
        if isinstance(command.loaded, LoadedFunction):
            returned = self._call(command, arguments)
        elif isinstance(command.command, SplitCoins | MergeCoins):
            _check_write(*arguments[0])
        for _, reference in arguments:
            self._graph.release(reference)
        self._keep(command, returned)

    def _is_without_conflict(self, command: TypedCommand) -> bool:
        """Return whether references of a command cannot conflict, so that the graph is not needed.

        The result is True if no reference is live, the command does not return a reference, and all
        its arguments use different slots. This is the case for nearly all commands. In this case,
        the references that the command itself borrows cannot conflict.
        """
        if self._references or any(slot.reference is not None for slot in command.results):
            return False
        return len({argument.slot for argument in command.arguments}) == len(command.arguments)

    def _use(self, argument: TypedArgument) -> BorrowedReference | None:
        """Return the reference that the command receives for an argument, or None for a value."""
        slot, borrowed = argument.slot, self._graph.is_borrowed(argument.slot)
        if argument.moves and borrowed:
            raise argument_failed(argument.index, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
        argument.is_borrowed = borrowed
        self._use_value(argument)
        if argument.usage in BORROWS:
            return self._graph.borrow(slot, mutable=argument.usage is Usage.BORROW_MUTABLY)
        return None if slot.reference is None else self._use_reference(argument)

    def _use_value(self, argument: TypedArgument) -> None:
        """Refuse an empty slot, and mark the slot as empty if the argument moves its value."""
        if argument.slot in self._empty:
            raise argument_failed(argument.index, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
        if argument.moves:
            self._empty.add(argument.slot)

    def _use_reference(self, argument: TypedArgument) -> BorrowedReference | None:
        # The last use passes the reference itself, and earlier uses pass a copy of the reference.
        # READ passes a value instead of a reference. FREEZE passes an immutable copy, even as the
        # last use.
        reference = self._references[argument.slot]
        if argument.moves:
            del self._references[argument.slot]
            if argument.usage is Usage.BY_VALUE:
                return reference
        passed: BorrowedReference | None = None
        if argument.usage is not Usage.READ:
            mutable = reference.mutable and argument.usage is Usage.BY_VALUE
            passed = self._graph.copy(reference, mutable=mutable)
        if argument.moves:
            self._graph.release(reference)
        return passed

    def _call(
        self, command: TypedCommand, arguments: Sequence[ReferenceArgument]
    ) -> list[BorrowedReference]:
        references = [reference for _, reference in arguments]
        conflict = first_conflict(references)
        if conflict is not None:
            index = next(
                argument.index for argument, reference in arguments if reference is conflict
            )
            raise argument_failed(index, ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT)
        mutable = [slot.reference for slot in command.results if slot.reference is not None]
        return self._graph.call(references, mutable)

    def _keep(self, command: TypedCommand, returned: Sequence[BorrowedReference]) -> None:
        """Keep the returned references that later commands use, and release the others."""
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
