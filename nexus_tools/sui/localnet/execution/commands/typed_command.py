"""A command after typing, with the slots and types of its values and how it uses each value.

A value is in a *slot*: the gas coin, an input, or a result of a command. A typed argument specifies
a slot and how the command uses the slot's value.
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
    """A slot for one value of one type. `cell` is a list with the value, or an empty list.

    If the slot is an input object, `input` is the object, and `cell` is None until the first use.
    If the value is a reference, `reference` is true if the reference is mutable. For other values,
    `reference` is None. If `lent_mutably` is set, the value may differ from the input. If
    `is_unread` is set, the first use of the value must still be charged.
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
    """The bytes of a pure input, which have a separate value for each type that commands expect.

    For example, 32 bytes may be an `address` in one command and an `ID` in the next. A command that
    changes the `ID` by `&mut` does not change the `address`.
    """

    data: bytes
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


class ReceivingSlot(Struct, eq=False):
    """A receiving input, which refers to an object sent to another object.

    The slot has a value for each type that commands expect.
    """

    reference: ObjectReference
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


Slot = ValueSlot | PureSlot | ReceivingSlot


class Usage(Enum):
    """The kind of use that a command makes of a slot's value.

    The members have these meanings:

        BY_VALUE        move or copy it, even if it is a reference
        BORROW          borrow it by `&`
        BORROW_MUTABLY  borrow it by `&mut`
        READ            copy the target of the reference in the slot
        FREEZE          use the `&mut` in the slot as `&`
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
    """An argument at an index of a command. If `moves` is set, the slot is empty afterward.

    `argument` is None for the `TxContext`, which the transaction does not contain. If `is_borrowed`
    is set, references to the value existed when this argument copied the value.
    """

    index: int
    argument: Argument | None
    slot: ValueSlot
    usage: Usage
    moves: bool = False
    is_borrowed: bool = False

    @property
    def is_mutable_reference(self) -> bool:
        """Whether the command receives a `&mut`."""
        if self.usage is Usage.BY_VALUE:
            return self.slot.reference is True
        return self.usage is Usage.BORROW_MUTABLY


class LoadedFunction(Struct, frozen=True):
    """The function that a command calls, with its type arguments."""

    function: Function
    type_arguments: tuple[TypeTag, ...]


CommandTarget = LoadedFunction | Dependencies | TypeTag | None
"""The function, packages or vector element type to which a command refers."""


class TypedCommand(Struct, frozen=True):
    """A command, its arguments in the order of their uses, and the slots of its results."""

    command: Command
    loaded: CommandTarget
    arguments: Sequence[TypedArgument]
    results: Sequence[ValueSlot] = ()

    @property
    def mutated(self) -> Iterator[tuple[Argument, ValueSlot]]:
        """The arguments that the command receives as `&mut`, with their slots."""
        return (
            (argument.argument, argument.slot)
            for argument in self.arguments
            if argument.argument is not None and argument.is_mutable_reference
        )
