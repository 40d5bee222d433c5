"""Values of Move types: whether they can be generated as arguments, and whether they are valid."""

import random
from collections.abc import Iterator
from typing import Any

from fuzzing.finding import Broken
from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.vm import Machine, ReferenceType, Variant, substitute
from nexus_tools.sui.types.type_tag import STRING, Primitive, StructTag, TypeTag, VectorTag

# Values of these types come only from native functions, or contain an ID that must be genuine.
_NOT_MADE_UP = ("UID", "TxContext")
_TYPE_ARGUMENTS: tuple[TypeTag, ...] = (
    Primitive.U64,
    Primitive.BOOL,
    VectorTag(Primitive.U8),
    VectorTag(VectorTag(Primitive.U16)),
    STRING,
)


def type_argument(machine: Machine, chance: random.Random, constraints: Ability) -> TypeTag | None:
    """Return a type with these abilities, or None."""
    fitting = [
        type_argument
        for type_argument in _TYPE_ARGUMENTS
        if constraints in machine.types.abilities(type_argument)
    ]
    return chance.choice(fitting) if fitting else None


def can_be_made(machine: Machine, type_: Any) -> bool:
    """Return whether a value of the type can be generated."""
    if isinstance(type_, ReferenceType):
        return can_be_made(machine, type_.target)
    if isinstance(type_, VectorTag):
        return can_be_made(machine, type_.element)
    if isinstance(type_, StructTag):
        definition = machine.types.datatype(type_)
        if definition is None or type_.name in _NOT_MADE_UP or Ability.KEY in definition.abilities:
            return False
        fields = [
            substitute(field_type, type_.type_params) for field_type in definition.field_types()
        ]
        return all(can_be_made(machine, field) for field in fields)
    return type_ is not Primitive.SIGNER


def check_type(machine: Machine, type_: Any, value: Any) -> None:
    """Check that a value is of its type, recursively. Raises `Broken`."""
    if isinstance(type_, ReferenceType):
        check_type(machine, type_.target, value.read())
        return
    if not _has_form(machine, type_, value):
        raise Broken(f"a value is ill-typed: {value!r:.200} is not of the type {type_}")
    for inner_type, inner in _parts(machine, type_, value):
        check_type(machine, inner_type, inner)


def _has_form(machine: Machine, type_: Any, value: Any) -> bool:
    if isinstance(type_, VectorTag):
        return type(value) is (bytearray if type_.element is Primitive.U8 else list)
    if isinstance(type_, StructTag):
        definition = machine.types.datatype(type_)
        assert definition is not None
        variants = _variants(machine, type_)
        if definition.variants is None:
            return type(value) is list and len(value) == len(variants[0])
        is_variant = type(value) is Variant and 0 <= value.tag < len(variants)
        return is_variant and len(value.fields) == len(variants[value.tag])
    if type_ is Primitive.BOOL:
        return type(value) is bool
    if type_ in (Primitive.ADDRESS, Primitive.SIGNER):
        return isinstance(value, bytes) and len(value) == 32
    return type(value) is int and 0 <= value < 1 << int(type_.removeprefix("u"))


def _parts(machine: Machine, type_: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(type_, VectorTag) and type_.element is not Primitive.U8:
        for item in value:
            yield type_.element, item
    elif isinstance(type_, StructTag):
        tag, fields = (value.tag, value.fields) if isinstance(value, Variant) else (0, value)
        yield from zip(_variants(machine, type_)[tag], fields, strict=True)


def _variants(machine: Machine, type_: StructTag) -> list[list[Any]]:
    """Return the field types of each variant. A struct counts as one variant."""
    definition = machine.types.datatype(type_)
    assert definition is not None
    if definition.variants is None:
        variants = [definition.fields or ()]
    else:
        variants = [fields for _, fields in definition.variants]
    return [[substitute(field, type_.type_params) for _, field in fields] for fields in variants]


def containers(value: Any) -> Iterator[int]:
    """Yield the identities of a value's mutable parts."""
    if isinstance(value, Variant):
        yield id(value)
        value = value.fields
    if isinstance(value, bytearray | list):
        yield id(value)
    if isinstance(value, list):
        for item in value:
            yield from containers(item)
