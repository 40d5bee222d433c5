"""The check that a transaction may call its functions with their arguments.

A transaction may call public functions and non-public `entry` functions. The author of a non-public
entry function relies on a direct call: its arguments must not force later commands to run. So after
each command, the values that it uses and its results belong to the same *clique*. A clique is *hot*
while it contains a hot potato, which is a value that can neither be dropped nor stored. A clique is
hot forever after one of its commands consumed a shared object. A non-public entry function accepts
no argument from a hot clique. For example:

    0  (coin, receipt) = loan::borrow(pool)    a receipt is a hot potato: {pool, coin, receipt} hot
    1  game::play(coin)                        entry, not public: refused, because the game would
                                               only count if the loan can be repaid
    2  loan::repay(pool, coin, receipt)        the receipt is consumed: the clique is cold again

Source: `move_functions.rs` and `private_entry_arguments.rs` of `sui-adapter`; the Move Book, "Entry
functions".
"""

from collections.abc import Iterable, Sequence
from math import inf

from nexus_tools.sui.bytecode import INIT, Visibility
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    LoadedFunction,
    TypedArgument,
    TypedCommand,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.environment import Mode
from nexus_tools.sui.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.sui.localnet.vm import Function
from nexus_tools.sui.types.execution_status import ArgumentErrorKind, ErrorKind
from nexus_tools.sui.types.object import Shared
from nexus_tools.sui.types.transaction import MakeMoveVec

# --- Callable functions


def check_functions(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse calls of functions that return references or that transactions may not call."""
    if context.mode is Mode.INSPECT:
        return
    for command in context.in_turn(commands):
        if isinstance(command.loaded, LoadedFunction):
            _check_results(command)
            _check_callable(context, command.loaded.function)


def _check_results(command: TypedCommand) -> None:
    for index, slot in enumerate(command.results):
        if slot.reference is not None:
            raise CommandFailed(ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE, index)


def _check_callable(context: ExecutionContext, function: Function) -> None:
    if context.mode is Mode.SYSTEM:
        return
    callable_ = function.is_entry or function.visibility is Visibility.PUBLIC
    if not callable_ or function.name == INIT or _is_private_generic(function):
        raise CommandFailed(
            ErrorKind.NON_ENTRY_FUNCTION_INVOKED,
            message=f"{function.module.name}::{function.name} cannot be called by a transaction",
        )


def _is_private_generic(function: Function) -> bool:
    from nexus_tools.sui.localnet.verifier import is_internal  # noqa: PLC0415 - 20 ms at start

    return is_internal(function.module.address, function.module.name, function.name)


# --- Arguments of non-public entry functions


class Cliques:
    """The cliques of values, stored as disjoint sets with a count of hot potatoes each."""

    __slots__ = ("_heat", "_parent")

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._heat: list[float] = []

    def new(self) -> int:
        """Add an empty clique."""
        self._parent.append(len(self._parent))
        self._heat.append(0)
        return len(self._parent) - 1

    def merge(self, cliques: Iterable[int]) -> int:
        """Merge cliques and return the merged clique, or a new clique if `cliques` is empty."""
        roots = {self._root(clique) for clique in cliques}
        if not roots:
            return self.new()
        target = roots.pop()
        for root in roots:
            self._parent[root] = target
            self._heat[target] += self._heat[root]
        return target

    def is_hot(self, clique: int) -> bool:
        """Return whether a clique is hot."""
        return self._heat[self._root(clique)] > 0

    def heat(self, clique: int) -> None:
        """Add a hot potato to a clique."""
        self._heat[self._root(clique)] += 1

    def cool(self, clique: int) -> None:
        """Remove a consumed hot potato from a clique."""
        self._heat[self._root(clique)] -= 1

    def heat_for_ever(self, clique: int) -> None:
        """Make a clique hot forever, because a command consumed a shared object."""
        self._heat[self._root(clique)] = inf

    def _root(self, clique: int) -> int:
        while self._parent[clique] != clique:
            # Path halving: each lookup halves the path for later lookups.
            self._parent[clique] = self._parent[self._parent[clique]]
            clique = self._parent[clique]
        return clique


def check_entry_arguments(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse arguments of non-public entry functions that could force later commands to run."""
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
        """Check one command, and add its values to the cliques."""
        arguments = [use for use in command.arguments if use.argument is not None]
        cliques = [self._use(argument) for argument in arguments]
        if _is_non_public_entry(command):
            self._refuse_hot(arguments, cliques)
        clique = self._cliques.merge(cliques)
        if any(self._takes_shared_object(argument) for argument in arguments):
            # The vector only contains the shared objects. The command that consumes the vector
            # consumes the objects.
            if isinstance(command.command, MakeMoveVec):
                self._vectors_of_shared.update(command.results)
            else:
                self._cliques.heat_for_ever(clique)
        for slot in command.results:
            self._of_slots[slot] = clique
            if slot.is_hot_potato:
                self._cliques.heat(clique)

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
    """Return whether the value of a slot is an input object or the gas coin, and not a result.

    Input objects without `store` would otherwise count as hot potatoes.
    """
    return slot.input is not None or slot.is_gas_coin


def _is_non_public_entry(command: TypedCommand) -> bool:
    if not isinstance(command.loaded, LoadedFunction):
        return False
    function = command.loaded.function
    return function.is_entry and function.visibility is not Visibility.PUBLIC
