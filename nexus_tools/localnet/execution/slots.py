"""Where the values of a transaction are: the gas coin, the inputs, the results of commands."""

from dataclasses import field

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.inputs import InputObject
from nexus_tools.localnet.vm import Value
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.type_tag import TypeTag


@dataclass(slots=True, eq=False)
class ValueSlot:
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


@dataclass(slots=True, eq=False)
class PureSlot:
    """Bytes that get a type where they are used: each type has a value of its own."""

    data: bytes
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class ReceivingSlot:
    """A ticket for an object that was sent to an object: each type has a value of its own."""

    reference: ObjectReference
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


Slot = ValueSlot | PureSlot | ReceivingSlot
