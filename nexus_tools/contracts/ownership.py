"""Who may do what: names, leaders and the administration belong to addresses."""

from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import AddressOwner, ConsensusAddressOwner, Object


def require_owner(wallet: Address, owner: Address | None, right: str, code: str, hint: str) -> None:
    """Raises `code` unless the wallet is the owner; `right` is what it would have to own."""
    if wallet != owner:
        belongs = "nobody" if owner is None else str(owner)
        raise NotAllowedError(code, f"{right} belongs to {belongs}, not to {wallet}", hint=hint)


def holder(value: Object | None) -> Address | None:
    """The address that has an object, such as an `UpgradeCap`; None if no address has it."""
    match value and value.owner:
        case AddressOwner(address) | ConsensusAddressOwner(address=address):
            return address
    return None


def require_admin(wallet: Address, admin: Admin) -> None:
    """Raises `not_admin` unless the wallet is the admin of the package."""
    hint = "sign with the admin's wallet: `nexus-tools admin show` names it"
    require_owner(wallet, admin.owner.owner, "the administration", "not_admin", hint)
