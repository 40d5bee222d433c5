"""Sizes of types as natives are charged for them.

Source: `Type::size` in `move-vm-types/src/loaded_data/runtime_types.rs`, and
`abstract_size_for_gas_metering` in `move-core-types/src/language_storage.rs`.
"""

from nexus_tools.sui.address import ADDRESS_LENGTH
from nexus_tools.sui.type_tag import Primitive, StructTag, TypeTag, VectorTag

_TAG_BYTES = 8 + 16  # ENUM_BASE_ABSTRACT_SIZE and BOX_ABSTRACT_SIZE


def type_size(type_: TypeTag) -> int:
    """One for each type that a type is made of."""
    if isinstance(type_, VectorTag):
        return 1 + type_size(type_.element)
    size = 1
    if isinstance(type_, StructTag):
        for part in type_.type_params:
            size += 1 if isinstance(part, Primitive) else type_size(part)
    return size


def tag_size(type_: TypeTag) -> int:
    """The size of a type tag."""
    if isinstance(type_, VectorTag):
        return _TAG_BYTES + tag_size(type_.element)
    return _TAG_BYTES + (struct_tag_size(type_) if isinstance(type_, StructTag) else 0)


def struct_tag_size(tag: StructTag) -> int:
    """The size of a struct's tag by itself."""
    names = len(tag.module) + len(tag.name)
    return ADDRESS_LENGTH + names + sum(map(tag_size, tag.type_params))
