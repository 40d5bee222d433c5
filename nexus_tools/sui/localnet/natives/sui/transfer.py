"""The native functions of `sui::transfer`, which change an object's owner."""

from nexus_tools.sui.localnet.natives.child_objects import MismatchedType
from nexus_tools.sui.localnet.natives.errors import UnsupportedNative
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.object_runtime import object_id_of
from nexus_tools.sui.localnet.natives.table import natives_of, object_type, runtime_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    Shared,
)
from nexus_tools.sui.types.type_tag import TypeTag

_COST = 52
_SHARED_NON_NEW_OBJECT = 0
_RECEIVING_OBJECT_TYPE_MISMATCH = 2
_UNABLE_TO_RECEIVE_OBJECT = 3

UNASSIGNED_VERSION = 0
"""A placeholder for the version that the effects of the transaction assign to the object."""

# The permissions of `sui::party`, with one bit each for reading, writing, deleting and
# transferring.
_NO_PERMISSIONS, _ALL_PERMISSIONS = 0b0000, 0b1111


def transfer_impl(
    context: Context, type_arguments: tuple[TypeTag, ...], value: Value, recipient: bytes
) -> None:
    """Transfer an object to an address."""
    charge(context, _COST)
    owner = AddressOwner(Address(recipient))
    runtime_of(context).transfer(owner, object_type(type_arguments), value)


def party_transfer_impl(  # noqa: PLR0917 - the Move function has these
    context: Context,
    type_arguments: tuple[TypeTag, ...],
    value: Value,
    default_permissions: int,
    addresses: list[bytes],
    permissions: list[int],
) -> None:
    """Transfer an object to an address, so that consensus orders the uses of the object."""
    charge(context, _COST)
    if default_permissions != _NO_PERMISSIONS or permissions != [_ALL_PERMISSIONS]:
        raise UnsupportedNative("parties other than a single owner")
    owner = ConsensusAddressOwner(UNASSIGNED_VERSION, Address(addresses[0]))
    runtime_of(context).transfer(owner, object_type(type_arguments), value)


def freeze_object_impl(context: Context, type_arguments: tuple[TypeTag, ...], value: Value) -> None:
    """Make an object immutable."""
    charge(context, _COST)
    runtime_of(context).transfer(Immutable(), object_type(type_arguments), value)


def share_object_impl(context: Context, type_arguments: tuple[TypeTag, ...], value: Value) -> None:
    """Share an object. Abort unless the object is new in this transaction or already shared."""
    charge(context, _COST)
    runtime = runtime_of(context)
    is_allowed = runtime.may_be_shared(object_id_of(value))
    runtime.transfer(Shared(UNASSIGNED_VERSION), object_type(type_arguments), value)
    if not is_allowed:
        raise NativeAbort(_SHARED_NON_NEW_OBJECT)


def receive_impl(
    context: Context,
    type_arguments: tuple[TypeTag, ...],
    parent: bytes,
    to_receive: list[bytes],
    version: int,
) -> Value:
    """Receive an object that was sent to the address of an object. `to_receive` is an `ID`."""
    charge(context, _COST)
    try:
        value = runtime_of(context).receive(
            Address(parent), Address(to_receive[0]), version, object_type(type_arguments)
        )
    except MismatchedType:
        raise NativeAbort(_RECEIVING_OBJECT_TYPE_MISMATCH) from None
    if value is None:
        raise NativeAbort(_UNABLE_TO_RECEIVE_OBJECT)
    return value


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "transfer",
    transfer_impl=transfer_impl,
    party_transfer_impl=party_transfer_impl,
    freeze_object_impl=freeze_object_impl,
    share_object_impl=share_object_impl,
    receive_impl=receive_impl,
)
