"""The import of keys and networks of the Sui CLI."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from nexus_tools.errors import NotFoundError, UsageError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.settings.settings import Settings
    from nexus_tools.sui.keystore import Account
    from nexus_tools.sui.network import Network

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ImportResult(Generic[T]):
    """A network or account of the Sui CLI. `new` is False if the entry existed before."""

    what: T
    new: bool


def import_from_sui(
    settings: "Settings",
) -> "tuple[list[ImportResult[Account]], list[ImportResult[Network]]]":
    """Copy the keys and networks of the Sui CLI into our files.

    Existing entries and well-known names stay unchanged. For example, a network that the Sui CLI
    calls `testnet` never changes the meaning of `testnet` here. Raises `sui_files_missing`,
    `sui_config_invalid` or `wallet_invalid`.
    """
    files = settings.sui_files
    if not files.file.exists():
        raise NotFoundError(
            "sui_files_missing",
            f"no configuration of the Sui CLI at {files.file}",
            hint="Set SUI_CONFIG_DIR to the folder of the Sui CLI.",
        )
    accounts = [_import_account(settings, account) for account in files.accounts]
    networks = [_import_network(settings, network) for network in files.networks]
    settings.save()
    return accounts, networks


def _import_account(settings: "Settings", theirs: "Account") -> "ImportResult[Account]":
    wallet, key = settings.open_wallet(), settings.sui_files.key(theirs.address)
    ours = {account.address: account for account in wallet.accounts()}
    if theirs.address in ours:
        return ImportResult(ours[theirs.address], new=False)
    try:
        return ImportResult(wallet.add(key, theirs.alias), new=True)
    except (UsageError, ValidationError):  # the alias is taken or invalid
        return ImportResult(wallet.add(key), new=True)


def _import_network(settings: "Settings", theirs: "Network") -> "ImportResult[Network]":
    from nexus_tools.sui.network import NETWORKS

    if theirs.name in settings.networks or theirs.name in NETWORKS:
        return ImportResult(settings.find_network(theirs.name), new=False)
    faucet = {"faucet_url": theirs.faucet_url} if theirs.faucet_url else {}
    settings.networks[theirs.name] = {"url": theirs.url} | faucet
    return ImportResult(theirs, new=True)
