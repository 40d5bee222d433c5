"""The functions and datatypes that a module defines, with all types resolved.

A `Type` is a type tag, which may contain type parameters, or a reference to a type tag.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from nexus_tools.sui.bytecode import Ability, DatatypeTypeParameter, Visibility
from nexus_tools.sui.localnet.vm.errors import Location
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag


class TypeParameter(Struct, frozen=True):
    """A type parameter of the enclosing function or datatype, by its index from 0."""

    index: int

    def __str__(self) -> str:
        return f"T{self.index}"


class ReferenceType(Struct, frozen=True):
    """The type of a reference to a value of the type `target`."""

    target: "Type"
    mutable: bool

    def __str__(self) -> str:
        return f"&{'mut ' if self.mutable else ''}{self.target}"


# `VectorTag` and `StructTag` also represent vectors and structs that contain type parameters.
Type = TypeTag | TypeParameter | ReferenceType


def substitute(type_: Type, type_arguments: Sequence[Type]) -> Type:
    """Replace the type parameters in `type_` with type arguments."""
    if not type_arguments or isinstance(type_, Primitive):
        return type_
    if isinstance(type_, TypeParameter):
        return type_arguments[type_.index]
    if isinstance(type_, ReferenceType):
        return ReferenceType(substitute(type_.target, type_arguments), type_.mutable)
    if isinstance(type_, VectorTag):
        return VectorTag(substitute(type_.element, type_arguments))  # type: ignore[arg-type]
    if not type_.type_params:
        return type_
    params = tuple([substitute(param, type_arguments) for param in type_.type_params])
    return StructTag(type_.address, type_.module, type_.name, params)  # type: ignore[arg-type]


def count_nodes(type_: Type) -> int:
    """Return the number of nodes in the tree of a type. For `vector<vector<u8>>`, it is 3."""
    if isinstance(type_, VectorTag):
        return 1 + count_nodes(type_.element)
    if isinstance(type_, ReferenceType):
        return 1 + count_nodes(type_.target)
    if isinstance(type_, StructTag):
        return 1 + sum(map(count_nodes, type_.type_params))
    return 1


def has_type_parameters(type_: Type) -> bool:
    """Return whether a type depends on type arguments."""
    if isinstance(type_, VectorTag):
        return has_type_parameters(type_.element)
    if isinstance(type_, ReferenceType):
        return has_type_parameters(type_.target)
    if isinstance(type_, StructTag):
        return any(map(has_type_parameters, type_.type_params))
    return isinstance(type_, TypeParameter)


class ModuleId(NamedTuple):
    """A module's name and the original id of its package, which all package versions share."""

    address: Address
    name: str


class Function(Struct, frozen=True):
    """A function of one version of a package.

    `package` is the storage id of this package version. `index` is the position of the function in
    its module. `type_parameters` contains, for each type parameter, the abilities that its type
    argument must have.
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
        """Return the location of an instruction of this function."""
        return Location(self.module.address, self.module.name, self.index, instruction, self.name)


Field = tuple[str, Type]


class Datatype(Struct, frozen=True):
    """A struct (`fields`) or an enum (`variants`, in the order of their tags).

    The address of `tag` is the defining id of the type. `tag` has no type arguments.
    """

    tag: StructTag
    abilities: Ability
    type_parameters: tuple[DatatypeTypeParameter, ...]
    fields: tuple[Field, ...] | None
    variants: tuple[tuple[str, tuple[Field, ...]], ...] | None

    def field_types(self) -> tuple[Type, ...]:
        """Return the types of all fields, which for an enum are the fields of all variants."""
        if self.fields is not None:
            return tuple([type_ for _, type_ in self.fields])
        variants = self.variants or ()
        return tuple([type_ for _, fields in variants for _, type_ in fields])
