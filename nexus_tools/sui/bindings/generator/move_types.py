"""Move types in signatures and fields. Names replace the indices of the bytecode."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.bytecode import (
    Ability,
    CompiledModule,
    DatatypeToken,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)
from nexus_tools.sui.types.address import Address


class Vector(Struct, frozen=True):
    """A vector type."""

    element: "MoveType"


class Reference(Struct, frozen=True):
    """A reference type."""

    target: "MoveType"
    mutable: bool


class Parameter(Struct, frozen=True):
    """A use of the declaration's type parameter at `index`."""

    index: int


class NamedType(Struct, frozen=True):
    """A struct or an enum with type arguments.

    `takes` are the indices of the non-phantom arguments.
    """

    address: Address
    module: str
    name: str
    arguments: tuple["MoveType", ...]
    takes: tuple[int, ...]
    abilities: Ability

    @property
    def id(self) -> tuple[Address, str, str]:
        """The address, module and name of the type."""
        return self.address, self.module, self.name

    @property
    def held(self) -> tuple["MoveType", ...]:
        """The type arguments whose values the type may contain."""
        return tuple(self.arguments[index] for index in self.takes)


# A string is the Move name of a primitive type.
MoveType = str | Vector | Reference | Parameter | NamedType


def named_types(module: CompiledModule, token: SignatureToken) -> MoveType:
    """Return the named form of a type in a module's bytecode."""
    if isinstance(token, VectorToken):
        return Vector(named_types(module, token.element))
    if isinstance(token, ReferenceToken):
        return Reference(named_types(module, token.target), token.mutable)
    if isinstance(token, TypeParameterToken):
        return Parameter(token.index)
    if not isinstance(token, DatatypeToken):
        return token
    address, module_name, name = module.datatype_id(token.handle)
    handle = module.datatype_handles[token.handle]
    takes = [
        at
        for at, type_parameter in enumerate(handle.type_parameters)
        if not type_parameter.is_phantom
    ]
    arguments = tuple(named_types(module, type_argument) for type_argument in token.type_arguments)
    return NamedType(Address(address), module_name, name, arguments, tuple(takes), handle.abilities)


def contained_types(move_type: MoveType) -> Iterator[NamedType]:
    """Yield the structs and enums in a type.

    These are the type itself, the element types of vectors, and the type arguments that are not
    phantom.
    """
    if isinstance(move_type, Vector):
        yield from contained_types(move_type.element)
    elif isinstance(move_type, NamedType):
        yield move_type
        for argument in move_type.held:
            yield from contained_types(argument)


def used_parameters(move_types: Sequence[MoveType]) -> set[int]:
    """Return the indices of the type parameters that values of these types may contain."""
    indices: set[int] = set()
    for move_type in move_types:
        if isinstance(move_type, Parameter):
            indices.add(move_type.index)
        elif isinstance(move_type, Vector):
            indices |= used_parameters([move_type.element])
        elif isinstance(move_type, NamedType):
            indices |= used_parameters(move_type.held)
    return indices


def move_text(move_type: MoveType, parameters: Sequence[str]) -> str:
    """Return a type in Move syntax, without module names. An example is `&mut Coin<T>`."""
    if isinstance(move_type, Reference):
        mutable = "mut " if move_type.mutable else ""
        return f"&{mutable}{move_text(move_type.target, parameters)}"
    if isinstance(move_type, Vector):
        return f"vector<{move_text(move_type.element, parameters)}>"
    if isinstance(move_type, Parameter):
        return parameters[move_type.index]
    if isinstance(move_type, str):
        return move_type
    arguments = ", ".join(move_text(argument, parameters) for argument in move_type.arguments)
    return f"{move_type.name}<{arguments}>" if arguments else move_type.name
