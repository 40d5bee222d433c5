"""A key as commands print it, and which keys are ours to change."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.settings.settings import OURS

if TYPE_CHECKING:
    from nexus_tools.settings.lookup import Found
    from nexus_tools.sui.keystore import Account
    from nexus_tools.sui.types.address import Address


def key_record(session: Session, found: "Found[Account]") -> dict[str, Any]:
    """A key without its secret, and whether it signs unless something else is said."""
    return record_beside(found, active_address(session))


def record_beside(found: "Found[Account]", active: "Address | None") -> dict[str, Any]:
    """As `key_record`, of many keys of which one is active."""
    account = found.what
    return {
        "alias": account.alias,
        "address": str(account.address),
        "scheme": account.scheme.name.lower(),
        "active": account.address == active,
        "source": found.source,
        "encrypted": account.encrypted,
    }


def active_address(session: Session) -> "Address | None":
    """The address that signs unless something else is said."""
    try:
        return session.settings.locate_account().what.address
    except NotFoundError:
        return None


def require_ours(found: "Found[Account]", wish: str, hint: str) -> None:
    """Raises `account_elsewhere` for a key of another program."""
    if found.source != OURS:
        raise UsageError(
            "account_elsewhere",
            f"the key {found.what.alias} is not ours to {wish}: it is in {found.file}",
            hint=hint,
        )
