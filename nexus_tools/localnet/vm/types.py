"""Types as functions and datatypes declare them: type tags, with type parameters and references."""

from collections.abc import Sequence

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.type_tag import Primitive, StructTag, TypeTag, VectorTag

__all__ = [
    "Primitive",
    "ReferenceType",
    "StructTag",
    "Type",
    "TypeParameter",
    "TypeTag",
    "VectorTag",
    "count_nodes",
    "substitute",
]


@dataclass(frozen=True, slots=True)
class TypeParameter:
    """The `index`th type parameter of the function or datatype around it."""

    index: int

    def __str__(self) -> str:
        return f"T{self.index}"


@dataclass(frozen=True, slots=True)
class ReferenceType:
    """The type of references to values of the type `target`."""

    target: "Type"
    mutable: bool

    def __str__(self) -> str:
        return f"&{'mut ' if self.mutable else ''}{self.target}"


# Vectors and structs that contain type parameters are `VectorTag` and `StructTag` as well.
Type = TypeTag | TypeParameter | ReferenceType


def substitute(type_: Type, type_arguments: Sequence[Type]) -> Type:
    """`type_` with its type parameters replaced."""
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
    """How many types a type is made of, itself included."""
    if isinstance(type_, VectorTag):
        return 1 + count_nodes(type_.element)
    if isinstance(type_, ReferenceType):
        return 1 + count_nodes(type_.target)
    if isinstance(type_, StructTag):
        return 1 + sum(map(count_nodes, type_.type_params))
    return 1


def has_type_parameters(type_: Type) -> bool:
    """Whether a type depends on type arguments."""
    if isinstance(type_, VectorTag):
        return has_type_parameters(type_.element)
    if isinstance(type_, ReferenceType):
        return has_type_parameters(type_.target)
    if isinstance(type_, StructTag):
        return any(map(has_type_parameters, type_.type_params))
    return isinstance(type_, TypeParameter)
