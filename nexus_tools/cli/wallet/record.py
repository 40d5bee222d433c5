"""The output of keys, and the check that a key is in our keystore."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.settings.settings import OWN_SOURCE

if TYPE_CHECKING:
    from nexus_tools.settings.lookup import Resolved
    from nexus_tools.sui.keystore import Account
    from nexus_tools.sui.types.address import Address


def key_record(session: Session, found: "Resolved[Account]") -> dict[str, Any]:
    """Return a key without its secret, and whether it is the default key."""
    return key_record_with_active(found, active_address(session))


def signer_record(session: Session) -> dict[str, Any]:
    """Return the record of the signer of a command, which has no alias and no known scheme."""
    return {
        "alias": None,
        "address": str(session.own_address()),
        "scheme": None,
        "active": True,
        "source": session.own_name(),
        "encrypted": None,
    }


def key_record_with_active(found: "Resolved[Account]", active: "Address | None") -> dict[str, Any]:
    """Return the record of `key_record` for a known active address, to format many keys."""
    account = found.value
    return {
        "alias": account.alias,
        "address": str(account.address),
        "scheme": account.scheme.name.lower(),
        "active": account.address == active,
        "source": found.source,
        "encrypted": account.encrypted,
    }


def active_address(session: Session) -> "Address | None":
    """Return the address that signs by default."""
    try:
        return session.settings.locate_account().value.address
    except NotFoundError:
        return None


def require_own_key(found: "Resolved[Account]", wish: str, hint: str) -> None:
    """Raise `account_external` for a key of another program."""
    if found.source != OWN_SOURCE:
        raise UsageError(
            "account_external",
            f"cannot {wish} the key {found.value.alias}, which belongs to another program:"
            f" {found.file}",
            hint=hint,
        )
