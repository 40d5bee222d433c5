"""Checks whether a wallet owns an object or a role, for example a name or the admin role."""

from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, ConsensusAddressOwner, Object


def require_owner(wallet: Address, owner: Address | None, right: str, code: str, hint: str) -> None:
    """Raise `code` unless the wallet is the owner of `right`."""
    if wallet != owner:
        holder_text = "no address" if owner is None else str(owner)
        raise NotAllowedError(code, f"{right} belongs to {holder_text}, not to {wallet}", hint=hint)


def holder(value: Object | None) -> Address | None:
    """Return the address that owns an object, such as an `UpgradeCap`, or None."""
    match value and value.owner:
        case AddressOwner(address) | ConsensusAddressOwner(address=address):
            return address
    return None


def require_admin(wallet: Address, admin: Admin) -> None:
    """Raise `not_admin` unless the wallet is the admin of the package."""
    hint = "Sign with the admin's wallet. Run `nexus-tools admin show` to see its address."
    require_owner(wallet, admin.owner.owner, "the administration", "not_admin", hint)
