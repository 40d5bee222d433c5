"""Owners (`sui.rpc.v2.Owner`)."""

from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.sui.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    ObjectOwner,
    Owner,
    Shared,
)

_KINDS: dict[type[Owner], int] = {
    AddressOwner: 1,
    ObjectOwner: 2,
    Shared: 3,
    Immutable: 4,
    ConsensusAddressOwner: 5,
}


def render_owner(message: Message, owner: Owner) -> None:
    """All fields: owners are small."""
    message.kind = _KINDS[type(owner)]
    if isinstance(owner, AddressOwner):
        message.address = str(owner.address)
    elif isinstance(owner, ObjectOwner):
        message.address = str(owner.parent)
    elif isinstance(owner, Shared):
        message.version = owner.initial_version
    elif isinstance(owner, ConsensusAddressOwner):
        message.version = owner.start_version
        message.address = str(owner.address)
