"""`sui::dynamic_field`: children of objects, by ids that are derived from their keys."""

from functools import lru_cache

from nexus_tools.localnet.natives.abstract_size import (
    struct_tag_size,
    tag_size,
    type_size,
)
from nexus_tools.localnet.natives.child_objects import MismatchedType
from nexus_tools.localnet.natives.object_runtime import object_id_of
from nexus_tools.localnet.natives.table import charge, natives_of, runtime_of
from nexus_tools.localnet.vm import Context, NativeAbort, Reference, Value
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.digest import dynamic_field_id
from nexus_tools.sui.type_tag import TYPE_TAG, StructTag, TypeTag

_COST_BASE = 52
# For each byte of a value that is there already, and of a reference to it.
_KNOWN_VALUE, _KNOWN_REFERENCE = 2, 8
_HASH_PER_BYTE = 2
_ADD_PER_TYPE, _ADD_PER_TAG_BYTE = 10, 10
_BORROW_PER_TYPE, _REMOVE_PER_TYPE, _HAS_PER_BYTE = 10, 2, 2
_KEY_DOES_NOT_EXIST = 1
_FIELD_TYPE_MISMATCH = 2


def hash_type_and_key(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, key: Value
) -> bytes:
    """The id of the field under a key."""
    (tag,) = type_arguments
    key_type, size = _key_type(tag)
    charge(context, _COST_BASE, _HASH_PER_BYTE, size + context.machine.size(tag, key))
    return dynamic_field_id(parent, key_type, context.machine.encode(tag, key))


@lru_cache(maxsize=1024)
def _key_type(tag: TypeTag) -> tuple[bytes, int]:
    """The bytes of a type, and the size that it counts."""
    return TYPE_TAG.encode(tag), type_size(tag) + tag_size(tag)


def add_child_object(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: Value
) -> None:
    """Make an object a child. That the key is free was asserted by the Move function."""
    tag = _struct(type_arguments)
    charge(context, _COST_BASE + _KNOWN_VALUE, _ADD_PER_TYPE, type_size(tag))
    charge(context, 0, _ADD_PER_TAG_BYTE, struct_tag_size(tag))
    runtime_of(context).children.add(Address(parent), object_id_of(child), tag, child)


def borrow_child_object(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: Reference, child: bytes
) -> Reference:
    """A reference to a child for reading."""
    return _borrow(context, type_arguments, parent, child, mutable=False)


def borrow_child_object_mut(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: Reference, child: bytes
) -> Reference:
    """A reference to a child for writing."""
    return _borrow(context, type_arguments, parent, child, mutable=True)


def _borrow(
    context: Context,
    type_arguments: tuple[TypeTag, ...],
    parent: Reference,
    child: bytes,
    *,
    mutable: bool,
) -> Reference:
    children, tag, child_id = runtime_of(context).children, _struct(type_arguments), Address(child)
    known, loading = children.value_is_known(child_id), children.loading_cost(child_id)
    charge(context, _COST_BASE + loading + _KNOWN_REFERENCE, _BORROW_PER_TYPE, type_size(tag))
    parent_id = Address(parent.read()[0][0])
    try:
        cell = children.borrow(parent_id, child_id, tag, mutable=mutable)
    except MismatchedType:
        raise NativeAbort(_FIELD_TYPE_MISMATCH) from None
    if cell is None:
        raise NativeAbort(_KEY_DOES_NOT_EXIST)
    if not known:
        charge(context, context.machine.size(tag, cell[0]))
    return Reference(cell, 0)


def remove_child_object(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> Value:
    """Take a child out of its parent."""
    children, tag, child_id = runtime_of(context).children, _struct(type_arguments), Address(child)
    known, loading = children.value_is_known(child_id), children.loading_cost(child_id)
    charge(context, _COST_BASE + loading, _REMOVE_PER_TYPE, type_size(tag))
    try:
        cell = children.remove(Address(parent), child_id, tag)
    except MismatchedType:
        raise NativeAbort(_FIELD_TYPE_MISMATCH) from None
    if cell is None:
        raise NativeAbort(_KEY_DOES_NOT_EXIST)
    charge(context, _KNOWN_VALUE if known else context.machine.size(tag, cell[0]))
    return cell[0]


def has_child_object(
    context: Context, _types: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> bool:
    """Whether there is a child with this id."""
    children = runtime_of(context).children
    charge(context, _COST_BASE + children.loading_cost(Address(child)))
    return children.exists(Address(parent), Address(child))


def has_child_object_with_ty(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> bool:
    """Whether there is a child with this id and type."""
    children, tag = runtime_of(context).children, _struct(type_arguments)
    charge(context, _COST_BASE, _HAS_PER_BYTE, type_size(tag) + struct_tag_size(tag))
    charge(context, children.loading_cost(Address(child)))
    return children.exists_with_type(Address(parent), Address(child), tag)


def _struct(type_arguments: tuple[TypeTag, ...]) -> StructTag:
    tag = type_arguments[0]
    assert isinstance(tag, StructTag)  # only structs have the ability key
    return tag


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "dynamic_field",
    hash_type_and_key=hash_type_and_key,
    add_child_object=add_child_object,
    borrow_child_object=borrow_child_object,
    borrow_child_object_mut=borrow_child_object_mut,
    remove_child_object=remove_child_object,
    has_child_object=has_child_object,
    has_child_object_with_ty=has_child_object_with_ty,
)
