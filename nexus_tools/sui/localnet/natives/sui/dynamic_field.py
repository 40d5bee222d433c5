"""The native functions of `sui::dynamic_field`, for children whose ids derive from their keys."""

from collections.abc import Callable

from nexus_tools.sui.localnet.natives.child_objects import MismatchedType
from nexus_tools.sui.localnet.natives.gas import (
    charge,
    struct_tag_size,
    tag_size,
    type_size,
)
from nexus_tools.sui.localnet.natives.object_runtime import object_id_of
from nexus_tools.sui.localnet.natives.table import natives_of, object_type, runtime_of
from nexus_tools.sui.localnet.vm import (
    Context,
    NativeAbort,
    TypeArguments,
    TypedNative,
    Types,
    Value,
)
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag

_COST_BASE = 52
# The costs of a value that is already loaded, and of a reference to this value.
_KNOWN_VALUE, _KNOWN_REFERENCE = 2, 8
_HASH_PER_BYTE = 2
_ADD_PER_TYPE, _ADD_PER_TAG_BYTE = 10, 10
_BORROW_PER_TYPE, _REMOVE_PER_TYPE, _HAS_PER_BYTE = 10, 2, 2
_KEY_DOES_NOT_EXIST = 1
_FIELD_TYPE_MISMATCH = 2


def hash_type_and_key(types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that derives the id of a field from its parent and its key."""
    (tag,) = type_arguments
    key_type, size, encode = TYPE_TAG.encode(tag), types.sizer(tag), types.encoder(tag)
    base = _COST_BASE + _HASH_PER_BYTE * (type_size(tag) + tag_size(tag))

    def native(context: Context, parent: bytes, key: Value) -> bytes:
        charge(context, base + _HASH_PER_BYTE * size(key))
        return dynamic_field_id(parent, key_type, encode(key))

    return native


def add_child_object(_types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that adds a child. The Move function asserts that the key is new."""
    tag = object_type(type_arguments)
    cost = _COST_BASE + _KNOWN_VALUE + _ADD_PER_TYPE * type_size(tag)
    cost_of_tag = _ADD_PER_TAG_BYTE * struct_tag_size(tag)

    def native(context: Context, parent: bytes, child: Value) -> None:
        charge(context, cost)
        charge(context, cost_of_tag)
        runtime_of(context).children.add(parent, object_id_of(child), tag, child)

    return native


def borrow_child_object(types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that borrows a child immutably."""
    return _borrower(types, type_arguments, mutable=False)


def borrow_child_object_mut(types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that borrows a child mutably."""
    return _borrower(types, type_arguments, mutable=True)


def _borrower(
    types: Types, type_arguments: TypeArguments, *, mutable: bool
) -> Callable[..., Value]:
    tag = object_type(type_arguments)
    size = types.sizer(tag)
    base = _COST_BASE + _KNOWN_REFERENCE + _BORROW_PER_TYPE * type_size(tag)

    def native(context: Context, parent: Value, child: bytes) -> tuple[list[Value], int]:
        children, child_id = runtime_of(context).children, _address(child)
        is_known = children.value_is_known(child_id)
        charge(context, base if is_known else base + children.loading_cost(child_id))
        try:
            cell = children.borrow(parent[0][0], child_id, tag, mutable=mutable)
        except MismatchedType:
            raise NativeAbort(_FIELD_TYPE_MISMATCH) from None
        if cell is None:
            raise NativeAbort(_KEY_DOES_NOT_EXIST)
        if not is_known:
            charge(context, size(cell[0]))
        return cell, 0

    return native


def remove_child_object(types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that removes a child from its parent."""
    tag = object_type(type_arguments)
    size = types.sizer(tag)
    base = _COST_BASE + _REMOVE_PER_TYPE * type_size(tag)

    def native(context: Context, parent: bytes, child: bytes) -> Value:
        children, child_id = runtime_of(context).children, _address(child)
        is_known = children.value_is_known(child_id)
        charge(context, base + children.loading_cost(child_id))
        try:
            cell = children.remove(parent, child_id, tag)
        except MismatchedType:
            raise NativeAbort(_FIELD_TYPE_MISMATCH) from None
        if cell is None:
            raise NativeAbort(_KEY_DOES_NOT_EXIST)
        charge(context, _KNOWN_VALUE if is_known else size(cell[0]))
        return cell[0]

    return native


def has_child_object(
    context: Context, _types: tuple[TypeTag, ...], parent: bytes, child: bytes
) -> bool:
    """Return whether the parent has a child with this id."""
    children, child_id = runtime_of(context).children, _address(child)
    charge(context, _COST_BASE + children.loading_cost(child_id))
    return children.exists(parent, child_id)


def has_child_object_with_ty(
    context: Context, type_arguments: TypeArguments, parent: bytes, child: bytes
) -> bool:
    """Return whether the parent has a child with this id and type."""
    children, child_id = runtime_of(context).children, _address(child)
    tag = object_type(type_arguments)
    charge(context, _COST_BASE, _HAS_PER_BYTE, type_size(tag) + struct_tag_size(tag))
    charge(context, children.loading_cost(child_id))
    return children.exists_with_type(parent, child_id, tag)


def _address(value: bytes) -> Address:
    """Return an id as an `Address`. A newly derived id already is an `Address`."""
    return value if isinstance(value, Address) else Address(value)


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "dynamic_field",
    hash_type_and_key=TypedNative(hash_type_and_key),
    add_child_object=TypedNative(add_child_object),
    borrow_child_object=TypedNative(borrow_child_object),
    borrow_child_object_mut=TypedNative(borrow_child_object_mut),
    remove_child_object=TypedNative(remove_child_object),
    has_child_object=has_child_object,
    has_child_object_with_ty=has_child_object_with_ty,
)
