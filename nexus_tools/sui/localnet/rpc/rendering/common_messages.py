"""The rendering of small messages inside others: BCS bytes, times, owners and references."""

from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    ObjectOwner,
    ObjectReference,
    Owner,
    Shared,
)

_OWNERS: dict[type[Owner], int] = {
    AddressOwner: 1,
    ObjectOwner: 2,
    Shared: 3,
    Immutable: 4,
    ConsensusAddressOwner: 5,
}


def render_bcs(message: Message, name: str, value: bytes) -> None:
    """Fill a `sui.rpc.v2.Bcs`: the BCS bytes, and the name of their type."""
    message.name = name
    message.value = bytes(value)


def render_time(message: Message, milliseconds: int) -> None:
    """Fill a `google.protobuf.Timestamp` from milliseconds since 1970."""
    message.seconds, rest = divmod(milliseconds, 1000)
    message.nanos = rest * 1_000_000


def render_reference(message: Message, reference: ObjectReference) -> None:
    """Fill the ID, version and digest of an object (`sui.rpc.v2.ObjectReference`)."""
    message.object_id = str(reference.object_id)
    message.version = reference.version
    message.digest = str(reference.digest)


def render_owner(message: Message, owner: Owner) -> None:
    """Fill a `sui.rpc.v2.Owner`."""
    message.kind = _OWNERS[type(owner)]
    if isinstance(owner, AddressOwner):
        message.address = str(owner.address)
    elif isinstance(owner, ObjectOwner):
        message.address = str(owner.parent)
    elif isinstance(owner, Shared):
        message.version = owner.initial_version
    elif isinstance(owner, ConsensusAddressOwner):
        message.version = owner.start_version
        message.address = str(owner.address)
