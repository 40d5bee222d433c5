"""Caps: objects that give their owner a right."""

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import AddressOwner, Object


def has_cap(wallet: Address, cap: Object | None) -> bool:
    """Whether a cap exists and belongs to a wallet."""
    return cap is not None and cap.owner == AddressOwner(wallet)


def require_cap(wallet: Address, cap: Object | None, right: str, code: str, hint: str) -> None:
    """Raises `code` if a cap does not belong to the wallet; `right` is what goes with it."""
    if has_cap(wallet, cap):
        return
    raise NotAllowedError(
        code,
        f"{right} belongs to {_owner(cap)}, not to {wallet}",
        hint=hint,
        details={} if cap is None else {"cap": str(cap.id)},
    )


def _owner(cap: Object | None) -> str:
    if cap is None:
        return "nobody"
    return str(cap.owner.address) if isinstance(cap.owner, AddressOwner) else "another object"
