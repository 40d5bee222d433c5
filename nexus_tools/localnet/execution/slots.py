"""Where the values of a transaction are: the gas coin, the inputs, the results of commands."""

from dataclasses import dataclass, field

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.inputs import InputObject
from nexus_tools.localnet.vm import Value
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.type_tag import TypeTag


@dataclass(slots=True)
class ValueSlot:
    """A place for one value of one type; `cell` is a list of it, or empty after a move.

    `input` is the object that lies here, if it is an input; its cell is None until it is used.
    `lent_mutably` says that the value may differ from the input, `used_by_value_last` that the
    last use was a copy, made while nothing borrowed the value; `is_taken`, that it was used by
    value before.
    """

    type: TypeTag
    abilities: Ability
    clique: int
    cell: list[Value] | None
    input: InputObject | None = None
    is_gas_coin: bool = False
    lent_mutably: bool = False
    used_by_value_last: bool = False
    is_taken: bool = False

    @property
    def is_hot_potato(self) -> bool:
        """Whether the value can neither be dropped nor stored."""
        return Ability.DROP not in self.abilities and Ability.STORE not in self.abilities


@dataclass(slots=True)
class PureSlot:
    """Bytes that get a type where they are used: each type has a value of its own."""

    data: bytes
    clique: int
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


@dataclass(slots=True)
class ReceivingSlot:
    """A ticket for an object that was sent to an object: each type has a value of its own."""

    reference: ObjectReference
    clique: int
    typed: dict[TypeTag, ValueSlot] = field(default_factory=dict)


Slot = ValueSlot | PureSlot | ReceivingSlot
