"""A command when it is known which values it uses, of which types, and how.

A value lies in a *slot*: the gas coin, an input, a result of a command. An argument says of which
slot a command takes the value, and in which way.
"""

from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct, field

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.inputs import InputObject
from nexus_tools.sui.localnet.execution.packages import Dependencies
from nexus_tools.sui.localnet.vm import Function, Value
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import Argument, Command
from nexus_tools.sui.types.type_tag import TypeTag


class ValueSlot(Struct, eq=False):
    """A place for one value of one type; `cell` is a list of it, or empty before and after.

    `input` is the object that lies here, if it is an input; its cell is None until it is used.
    `reference` says of a reference to a value of the type whether it is mutable; it is None of a
    value. `lent_mutably` says that the value may differ from the input, `is_unread` that the value
    is charged for when it is used.
    """

    type: TypeTag
    abilities: Ability
    cell: list[Value] | None = field(default_factory=list)
    input: InputObject | None = None
    reference: bool | None = None
    is_gas_coin: bool = False
    lent_mutably: bool = False
    is_unread: bool = False

    @property
    def is_hot_potato(self) -> bool:
        """Whether the value can neither be dropped nor stored."""
        return Ability.DROP not in self.abilities and Ability.STORE not in self.abilities


class PureSlot(Struct, eq=False):
    """Bytes that get a type where they are used: each type has a value of its own.

    The same 32 bytes may be an `address` in one command and an `ID` in the next. What a command
    does to the one by `&mut` does not change the other.
    """

    data: bytes
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


class ReceivingSlot(Struct, eq=False):
    """A ticket for an object that was sent to an object: each type has a value of its own."""

    reference: ObjectReference
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


Slot = ValueSlot | PureSlot | ReceivingSlot


class Usage(Enum):
    """What a command does with the value of a slot.

    BY_VALUE        takes it, or a copy; a reference too
    BORROW          lends it by `&`
    BORROW_MUTABLY  lends it by `&mut`
    READ            takes a copy of what the reference in the slot refers to
    FREEZE          takes the `&mut` in the slot as `&`
    """

    BY_VALUE = "by value"
    BORROW = "borrow"
    BORROW_MUTABLY = "borrow mutably"
    READ = "read"
    FREEZE = "freeze"

    # The hash of an `Enum` is a function written in Python.
    __hash__ = object.__hash__


BORROWS = frozenset({Usage.BORROW, Usage.BORROW_MUTABLY})


class TypedArgument(Struct):
    """The command's `index`th argument; the slot is empty behind it if it `moves` the value.

    `argument` is None for the `TxContext`, which the transaction itself fills in. `is_borrowed`
    says of a copy that the value was borrowed when it was made.
    """

    index: int
    argument: Argument | None
    slot: ValueSlot
    usage: Usage
    moves: bool = False
    is_borrowed: bool = False

    @property
    def is_mutable_reference(self) -> bool:
        """Whether the command gets a `&mut`."""
        if self.usage is Usage.BY_VALUE:
            return self.slot.reference is True
        return self.usage is Usage.BORROW_MUTABLY


class LoadedFunction(Struct, frozen=True):
    """The function that a command calls, with its type arguments."""

    function: Function
    type_arguments: tuple[TypeTag, ...]


Loaded = LoadedFunction | Dependencies | TypeTag | None
"""What a command names besides values; the type is that of the elements of a vector."""


class TypedCommand(Struct, frozen=True):
    """A command, its arguments in the order of their uses, and the places of its results."""

    command: Command
    loaded: Loaded
    arguments: Sequence[TypedArgument]
    results: Sequence[ValueSlot] = ()

    @property
    def mutated(self) -> Iterator[tuple[Argument, ValueSlot]]:
        """The arguments of which the command gets a `&mut`, and where their values are."""
        return (
            (each.argument, each.slot)
            for each in self.arguments
            if each.argument is not None and each.is_mutable_reference
        )
