"""What a module defines, with all types resolved: functions and datatypes."""

from typing import NamedTuple

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.module import Ability, DatatypeTypeParameter, Visibility
from nexus_tools.localnet.vm.errors import Location
from nexus_tools.localnet.vm.types import StructTag, Type
from nexus_tools.sui.address import Address


class ModuleId(NamedTuple):
    """A module by the original id of its package, which all versions share, and its name."""

    address: Address
    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one version of a package.

    `package` is the storage id of that version, `index` the function's place in its module, and
    `type_parameters` are what type arguments must be able to do.
    """

    package: Address
    module: ModuleId
    name: str
    index: int
    visibility: Visibility
    is_entry: bool
    type_parameters: tuple[Ability, ...]
    parameters: tuple[Type, ...]
    returns: tuple[Type, ...]
    is_native: bool

    def location(self, instruction: int) -> Location:
        """The place of one of its instructions."""
        return Location(self.module.address, self.module.name, self.index, instruction, self.name)


Field = tuple[str, Type]


@dataclass(frozen=True, slots=True)
class Datatype:
    """A struct (`fields`) or an enum (`variants`, in the order of their tags).

    `tag` has the defining id as its address and no type arguments.
    """

    tag: StructTag
    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]
    fields: tuple[Field, ...] | None
    variants: tuple[tuple[str, tuple[Field, ...]], ...] | None

    def field_types(self) -> tuple[Type, ...]:
        """The types of all its fields, those of all variants together."""
        if self.fields is not None:
            return tuple([type_ for _, type_ in self.fields])
        variants = self.variants or ()
        return tuple([type_ for _, fields in variants for _, type_ in fields])
