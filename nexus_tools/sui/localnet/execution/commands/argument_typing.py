"""The lookup and the type check of command arguments.

Source: `static_programmable_transactions/typing/translate.rs` of `sui-adapter`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    PureSlot,
    ReceivingSlot,
    Slot,
    TypedArgument,
    Usage,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.errors import argument_failed
from nexus_tools.sui.localnet.execution.inputs import pure_check
from nexus_tools.sui.localnet.vm import ReferenceType, Type
from nexus_tools.sui.types.coin import is_coin
from nexus_tools.sui.types.execution_status import ArgumentErrorKind
from nexus_tools.sui.types.transaction import Argument, GasCoin, InputArgument, Result
from nexus_tools.sui.types.type_tag import TypeTag

_PURE_ABILITIES = Ability.COPY | Ability.DROP | Ability.STORE
_REFERENCE_ABILITIES = Ability.COPY | Ability.DROP
_BORROW = {False: Usage.BORROW, True: Usage.BORROW_MUTABLY}


class Located(Struct, frozen=True):
    """An argument of a command, with its index in the command and the slot to which it refers."""

    index: int
    argument: Argument
    slot: Slot


class FirstUse(Struct, frozen=True):
    """The first use of an untyped input as a value of a certain type."""

    command: int
    index: int
    input: PureSlot | ReceivingSlot
    slot: ValueSlot


class ArgumentTyper:
    """A type checker for command arguments, which processes the commands in order.

    Methods raise `CommandFailed`.

    `pure` and `receiving` record the first use of each pure or receiving input, for each type.
    """

    def __init__(self, context: ExecutionContext) -> None:
        self._context = context
        self.pure: list[FirstUse] = []
        self.receiving: list[FirstUse] = []

    # --- Lookup

    def locate(self, arguments: Iterable[Argument], start: int = 0) -> list[Located]:
        """Return arguments with their slots.

        The first of these arguments has the index `start` in the command.
        """
        return [
            Located(index, argument, self._find(argument, index))
            for index, argument in enumerate(arguments, start)
        ]

    def _find(self, argument: Argument, index: int) -> Slot:
        context = self._context
        if isinstance(argument, InputArgument):
            if argument.index >= len(context.input_slots):
                raise argument_failed(index, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, argument.index)
            return context.input_slots[argument.index]
        if isinstance(argument, GasCoin):
            return context.gas_slot
        command = argument.command
        if command >= len(context.results):
            raise argument_failed(index, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, command)
        results = context.results[command]
        if isinstance(argument, Result):
            if len(results) != 1:
                raise argument_failed(index, ArgumentErrorKind.INVALID_RESULT_ARITY, command)
            return results[0]
        if argument.index >= len(results):
            kind = ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS
            raise argument_failed(index, kind, command, argument.index)
        return results[argument.index]

    # --- Typing

    def all_typed(
        self, located: Sequence[Located], expected: Iterable[Type]
    ) -> Iterator[TypedArgument]:
        """Return typed arguments for parameters of the `expected` types."""
        return map(self.typed, located, expected)

    def typed(self, located: Located, expected: Type) -> TypedArgument:
        """Return a typed argument for a parameter of the `expected` type.

            slot            parameter    usage
            a value         T            BY_VALUE: moved, or copied if the type can be copied
            a value         &T, &mut T   BORROW, BORROW_MUTABLY
            &T or &mut T    T            READ, if the type can be copied
            &mut T          &T           FREEZE
            a reference     the same     BY_VALUE

        Any other combination is a type mismatch.
        """
        reference = expected if isinstance(expected, ReferenceType) else None
        tag = _closed(expected if reference is None else reference.target)
        slot = self._slot(located, tag)
        if slot.type != tag:
            raise _mismatch(located)
        if slot.reference is not None:
            return self._of_reference(located, slot, reference)
        if reference is None:
            return _by_value(located, slot)
        usage = _BORROW[reference.mutable]
        return TypedArgument(located.index, located.argument, slot, usage)

    def fixed(
        self,
        located: Located,
        accepts: Callable[[ValueSlot], bool],
        otherwise: ArgumentErrorKind,
    ) -> TypedArgument:
        """Return a typed argument by value if `accepts(slot)` is true.

        If `accepts` returns False, fail with `otherwise`.
        """
        slot = located.slot
        if not isinstance(slot, ValueSlot) or not accepts(slot):
            raise argument_failed(located.index, otherwise)
        return _by_value(located, slot)

    def tx_context(self, index: int, expected: ReferenceType) -> TypedArgument:
        """Return the `TxContext` argument, which the transaction does not contain."""
        return TypedArgument(index, None, self._context.tx_context, _BORROW[expected.mutable])

    def coin(self, located: Located) -> TypedArgument:
        """Return the typed argument for a coin that the command borrows by `&mut`."""
        slot = located.slot
        if not isinstance(slot, ValueSlot) or slot.reference is False or not is_coin(slot.type):
            raise _mismatch(located)
        usage = Usage.BY_VALUE if slot.reference else Usage.BORROW_MUTABLY
        return TypedArgument(located.index, located.argument, slot, usage)

    def result(self, type_: Type) -> ValueSlot:
        """Return a new slot for a result of this type."""
        if isinstance(type_, ReferenceType):
            return ValueSlot(_closed(type_.target), _REFERENCE_ABILITIES, reference=type_.mutable)
        return ValueSlot(_closed(type_), self._context.abilities(_closed(type_)))

    def _of_reference(
        self, located: Located, slot: ValueSlot, expected: ReferenceType | None
    ) -> TypedArgument:
        """Return the argument for a reference in a slot.

        If the parameter expects a value, it receives a copy of the reference's target.
        """
        usage = Usage.BY_VALUE
        if expected is None:
            usage = Usage.READ
            if Ability.COPY not in self._context.abilities(slot.type):
                raise _mismatch(located)
        elif expected.mutable and not slot.reference:
            raise _mismatch(located)
        elif slot.reference and not expected.mutable:
            usage = Usage.FREEZE
        return TypedArgument(located.index, located.argument, slot, usage)

    def _slot(self, located: Located, tag: TypeTag) -> ValueSlot:
        slot = located.slot
        if isinstance(slot, ValueSlot):
            return slot
        value_slot = slot.typed.get(tag)
        if value_slot is None:
            value_slot = slot.typed[tag] = self._first_use(located, slot, tag)
        return value_slot

    def _first_use(
        self, located: Located, slot: PureSlot | ReceivingSlot, tag: TypeTag
    ) -> ValueSlot:
        is_pure = isinstance(slot, PureSlot)
        # Types that are not allowed for pure inputs are refused later, when `check_inputs` decodes
        # the bytes. Only mode INSPECT allows these types.
        is_plain = is_pure and pure_check(tag) is not None
        abilities = _PURE_ABILITIES if is_plain else self._context.abilities(tag)
        value_slot = ValueSlot(tag, abilities, is_unread=True)
        assert self._context.command_index is not None
        use = FirstUse(self._context.command_index, located.index, slot, value_slot)
        (self.pure if is_pure else self.receiving).append(use)
        return value_slot


def _by_value(located: Located, slot: ValueSlot) -> TypedArgument:
    # If a value has the ability `copy`, only its last use moves it. `drop_safety` determines the
    # last use.
    moves = Ability.COPY not in slot.abilities
    return TypedArgument(located.index, located.argument, slot, Usage.BY_VALUE, moves)


def _mismatch(located: Located) -> Exception:
    return argument_failed(located.index, ArgumentErrorKind.TYPE_MISMATCH)


def _closed(type_: Type) -> TypeTag:
    """Narrow the static type of a `Type` that has no references or type parameters."""
    return type_  # type: ignore[return-value]
