"""The native functions of `std::type_name`, which return types as text.

An address has 64 hexadecimal digits without 0x.
"""

from collections.abc import Callable

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort
from nexus_tools.sui.types.address import MOVE_STDLIB, Address
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, VectorTag

_COST_BASE, _COST_PER_BYTE = 52, 2
_NON_MODULE_TYPE = 0

_Rename = Callable[[Address], bytes]


def canonical_text(tag: TypeTag, address: _Rename = bytes) -> str:
    """Return a type as text in the form of `std::type_name`, without spaces after commas."""
    if isinstance(tag, VectorTag):
        return f"vector<{canonical_text(tag.element, address)}>"
    if not isinstance(tag, StructTag):
        return str(tag)
    name = f"{address(tag.address).hex()}::{tag.module}::{tag.name}"
    if not tag.type_params:
        return name
    return f"{name}<{','.join(canonical_text(param, address) for param in tag.type_params)}>"


def with_defining_ids(context: Context, type_arguments: tuple[TypeTag, ...]) -> list[object]:
    """Return the type name with the defining ids of the types."""
    return _type_name(context, canonical_text(type_arguments[0]))


def with_original_ids(context: Context, type_arguments: tuple[TypeTag, ...]) -> list[object]:
    """Return the type name with the original ids of the packages."""
    text = canonical_text(type_arguments[0], lambda package: _original_id(context, package))
    return _type_name(context, text)


def defining_id(context: Context, type_arguments: tuple[TypeTag, ...]) -> bytes:
    """Return the defining id of a type. Abort for a primitive type."""
    return bytes(_struct_tag(context, type_arguments[0]).address)


def original_id(context: Context, type_arguments: tuple[TypeTag, ...]) -> bytes:
    """Return the original id of a type's package. Abort for a primitive type."""
    return _original_id(context, _struct_tag(context, type_arguments[0]).address)


def _original_id(context: Context, package: Address) -> bytes:
    loaded = context.types.package(package)
    assert loaded is not None  # values of its types exist
    return bytes(loaded.original_id)


def _struct_tag(context: Context, tag: TypeTag) -> StructTag:
    charge(context, _COST_BASE)
    if not isinstance(tag, StructTag):
        raise NativeAbort(_NON_MODULE_TYPE)
    return tag


def _type_name(context: Context, text: str) -> list[object]:
    """Return a `TypeName`, which is an `ascii::String` around the bytes."""
    charge(context, _COST_BASE, _COST_PER_BYTE, len(text))
    return [[bytearray(text.encode())]]


NATIVES = natives_of(
    MOVE_STDLIB,
    "type_name",
    with_defining_ids=with_defining_ids,
    with_original_ids=with_original_ids,
    defining_id=defining_id,
    original_id=original_id,
)
