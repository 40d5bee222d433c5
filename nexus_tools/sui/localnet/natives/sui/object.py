"""The native functions of `sui::object`, for the ids of objects."""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import TypeTag

_COST = 52


def borrow_uid(context: Context, _types: tuple[TypeTag, ...], value: Reference) -> Reference:
    """Return a reference to the `UID` of an object, which is its first field."""
    charge(context, _COST)
    return Reference(value.read(), 0)


def delete_impl(context: Context, _types: tuple[TypeTag, ...], object_id: bytes) -> None:
    """Delete an id."""
    charge(context, _COST)
    runtime_of(context).delete_id(Address(object_id))


def record_new_uid(context: Context, _types: tuple[TypeTag, ...], object_id: bytes) -> None:
    """Record the derived id of a dynamic field or of a derived object."""
    charge(context, _COST)
    runtime_of(context).record_new_id(Address(object_id))


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "object",
    borrow_uid=borrow_uid,
    delete_impl=delete_impl,
    record_new_uid=record_new_uid,
)
