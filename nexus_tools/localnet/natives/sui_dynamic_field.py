"""`sui::dynamic_field`: children of objects, by ids that are derived from their keys."""

from collections.abc import Callable

from nexus_tools.localnet.natives.child_objects import MismatchedType
from nexus_tools.localnet.natives.object_runtime import object_id_of
from nexus_tools.localnet.natives.table import charge, natives_of, runtime_of
from nexus_tools.localnet.vm import Context, NativeAbort, Reference, Value
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.digest import dynamic_field_id
from nexus_tools.sui.type_tag import TYPE_TAG, StructTag, TypeTag

_COST_BASE, _COST_PER_BYTE = 100, 2
_KEY_DOES_NOT_EXIST = 1
_FIELD_TYPE_MISMATCH = 2


def hash_type_and_key(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, key: Value
) -> bytes:
    """The id of the field under a key."""
    key_type = TYPE_TAG.encode(type_arguments[0])
    key_bytes = context.machine.encode(type_arguments[0], key)
    charge(context, _COST_BASE, _COST_PER_BYTE, len(key_type) + len(key_bytes))
    return bytes(dynamic_field_id(parent, key_type, key_bytes))


def add_child_object(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: Value
) -> None:
    """Make an object a child. That the key is free was asserted by the Move function."""
    charge(context, _COST_BASE)
    children = runtime_of(context).children
    children.add(Address(parent), object_id_of(child), _struct(type_arguments), child)


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
    charge(context, _COST_BASE)
    children, parent_id = runtime_of(context).children, Address(parent.read()[0][0])
    cell = _existing(
        lambda tag: children.borrow(parent_id, Address(child), tag, mutable=mutable),
        type_arguments,
    )
    return Reference(cell, 0)


def remove_child_object(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> Value:
    """Take a child out of its parent."""
    charge(context, _COST_BASE)
    children = runtime_of(context).children
    cell = _existing(
        lambda tag: children.remove(Address(parent), Address(child), tag), type_arguments
    )
    return cell[0]


def has_child_object(
    context: Context, _types: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> bool:
    """Whether there is a child with this id."""
    charge(context, _COST_BASE)
    return runtime_of(context).children.exists(Address(parent), Address(child))


def has_child_object_with_ty(
    context: Context, type_arguments: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> bool:
    """Whether there is a child with this id and type."""
    charge(context, _COST_BASE)
    return runtime_of(context).children.exists_with_type(
        Address(parent), Address(child), _struct(type_arguments)
    )


def _existing(
    look: Callable[[StructTag], list[Value] | None], type_arguments: tuple[TypeTag, ...]
) -> list[Value]:
    try:
        cell = look(_struct(type_arguments))
    except MismatchedType:
        raise NativeAbort(_FIELD_TYPE_MISMATCH) from None
    if cell is None:
        raise NativeAbort(_KEY_DOES_NOT_EXIST)
    return cell


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
