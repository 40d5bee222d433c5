"""A command when it is known which values it uses, of which types, and how."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.vm import Function
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Argument, Command
from nexus_tools.sui.type_tag import TypeTag


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


BORROWS = frozenset({Usage.BORROW, Usage.BORROW_MUTABLY})


@dataclass(slots=True)
class TypedArgument:
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


@dataclass(frozen=True, slots=True)
class LoadedFunction:
    """The function that a command calls, with its type arguments."""

    function: Function
    type_arguments: tuple[TypeTag, ...]


Dependencies = Mapping[Address, MovePackage]
"""What a package that is published may link to, by original ids."""

Loaded = LoadedFunction | Dependencies | TypeTag | None
"""What a command names besides values; the type is that of the elements of a vector."""


@dataclass(frozen=True, slots=True)
class TypedCommand:
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
