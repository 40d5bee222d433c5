"""Which functions a transaction may call, and with which values those that are not public.

A transaction calls what is public, and `entry` functions that are not. Whoever writes one of the
latter relies on being called for its own sake: nobody shall be able to force what happens after it.
So values that are used in one command belong together from then on, with its results: a *clique*. A
clique is *hot* while it holds a hot potato, a value that can neither be dropped nor stored, and for
ever after a shared object was consumed in it. A non-public entry function takes no argument from a
hot clique. For example

    0  (coin, receipt) = loan::borrow(pool)    a receipt is a hot potato: {pool, coin, receipt} hot
    1  game::play(coin)                        entry, not public: refused, for the game would only
                                               count if the loan can be paid back
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

# --- Which


def check_functions(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse functions that return references, and those that are not for transactions."""
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


# --- With which values


class Cliques:
    """Disjoint sets of values, each with the number of its hot potatoes."""

    __slots__ = ("_heat", "_parent")

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._heat: list[float] = []

    def new(self) -> int:
        """A clique of its own."""
        self._parent.append(len(self._parent))
        self._heat.append(0)
        return len(self._parent) - 1

    def merge(self, cliques: Iterable[int]) -> int:
        """One clique of all these."""
        roots = {self._root(clique) for clique in cliques}
        if not roots:
            return self.new()
        merged = roots.pop()
        for root in roots:
            self._parent[root] = merged
            self._heat[merged] += self._heat[root]
        return merged

    def is_hot(self, clique: int) -> bool:
        """Whether there is a hot potato in the clique."""
        return self._heat[self._root(clique)] > 0

    def heat(self, clique: int) -> None:
        """A hot potato comes into being."""
        self._heat[self._root(clique)] += 1

    def cool(self, clique: int) -> None:
        """A hot potato is consumed."""
        self._heat[self._root(clique)] -= 1

    def heat_for_ever(self, clique: int) -> None:
        """A shared object is consumed."""
        self._heat[self._root(clique)] = inf

    def _root(self, clique: int) -> int:
        while self._parent[clique] != clique:
            # Each look halves the way for the next one.
            self._parent[clique] = self._parent[self._parent[clique]]
            clique = self._parent[clique]
        return clique


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
            # The vector only holds the objects: they are consumed by who takes the vector.
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
