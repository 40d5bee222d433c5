"""The check that the sender may use an object that the transaction passes as owned.

Source: `check_one_object` in `sui-transaction-checks/src/lib.rs`.
"""

from collections.abc import Callable
from typing import NoReturn

from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    Object,
    ObjectOwner,
    Owner,
    Shared,
)


def check_owner(value: Object, sender: Address) -> None:
    """Refuse an object that neither belongs to the sender nor is immutable."""
    _CHECKS[type(value.owner)](value, value.owner, sender)


def wrong_owner(object_id: Address, owner: Address, sender: Address) -> TransactionRefused:
    """Return the refusal of an object that belongs to another address."""
    return TransactionRefused(
        "incorrect_user_signature",
        f"Transaction was not signed by the correct sender: Object {object_id} is owned by account"
        f" address {owner}, but given owner/signer address is {sender}",
    )


def _check_address_owner(value: Object, owner: AddressOwner, sender: Address) -> None:
    if owner.address != sender:
        raise wrong_owner(value.id, owner.address, sender)


def _check_object_owner(value: Object, owner: ObjectOwner, _sender: Address) -> NoReturn:
    raise TransactionRefused(
        "invalid_child_object_argument",
        f"Object {value.id} is owned by object {owner.parent}. Objects owned by other objects"
        " cannot be used as input arguments",
    )


def _check_consensus_owner(_value: Object, _owner: Owner, _sender: Address) -> NoReturn:
    raise TransactionRefused("not_shared_object_error", "Object used as owned is not owned")


def _check_immutable(_value: Object, _owner: Immutable, _sender: Address) -> None:
    """Accept an immutable object, which everyone may read."""


_CHECKS: dict[type[Owner], Callable[..., None]] = {
    AddressOwner: _check_address_owner,
    ObjectOwner: _check_object_owner,
    Shared: _check_consensus_owner,
    ConsensusAddressOwner: _check_consensus_owner,
    Immutable: _check_immutable,
}
