"""The commands that create, list, select, show and rename keys."""

import click

from nexus_tools.cli.framework import (
    Choice,
    Session,
    complete_keys,
    network_command,
    offline_command,
)
from nexus_tools.cli.wallet.passphrase import ENCRYPT, new_passphrase
from nexus_tools.cli.wallet.record import (
    active_address,
    key_record,
    key_record_with_active,
    require_own_key,
    signer_record,
)
from nexus_tools.sui.support import units

_SCHEMES = Choice(["ed25519", "secp256k1", "secp256r1"])


@click.command()
@click.argument("alias", required=False)
@click.option(
    "--scheme", type=_SCHEMES, default="ed25519", show_default=True, help="Signature scheme."
)
@ENCRYPT
@offline_command
def new(session: Session, alias: str | None, scheme: str, *, encrypt: bool) -> None:
    """Create a key. The key's recovery phrase is shown once and is not stored."""
    from nexus_tools.sui.signature import SignatureScheme

    wallet = session.settings.open_wallet()
    if alias:
        wallet.check_alias(alias)  # fails before the prompt for a passphrase
    passphrase = new_passphrase(session, alias) if encrypt else None
    account, mnemonic = wallet.new(alias, SignatureScheme[scheme.upper()], passphrase=passphrase)
    session.output.done(f"created the key {account.alias} in {wallet.place(account)}")
    record = key_record(session, session.settings.locate_account(account.address))
    if session.output.as_json:
        session.output.document(record | {"recovery_phrase": mnemonic})
        return
    session.output.created(record, record["address"])
    session.output.warn("Write down the recovery phrase. It is not shown again:")
    click.echo(f"  {mnemonic}", err=True)


@click.command("list")
@offline_command
def list_keys(session: Session) -> None:
    """List all keys: your own, keys of the Sui CLI, and keys of pysui."""
    active = active_address(session)
    rows = [
        key_record_with_active(found, active)
        for found in session.settings.all_accounts(session.output.warn_ignored)
    ]
    columns = {
        "alias": "Alias",
        "address": "Address",
        "scheme": "Scheme",
        "active": "Active",
        "source": "Source",
        "encrypted": "Encrypted",
    }
    session.output.table(
        rows, columns, empty="no keys yet. Run `nexus-tools wallet new` to create one"
    )


@click.command()
@click.argument("name", shell_complete=complete_keys)
@offline_command
def use(session: Session, name: str) -> None:
    """Use the key NAME (alias or address) to sign from now on."""
    found = session.settings.locate_account(name)
    session.settings.use_account(found)
    overridden = not found.value.is_named(session.settings.wallet or found.value.address)
    key = "signer" if "signer" in session.settings.overrides else "wallet"
    done = f"commands sign with {found.value.alias}"
    session.report_setting(key, done, overridden=overridden or key == "signer")
    if session.output.as_json:
        session.output.document(key_record(session, session.settings.locate_account(name)))


@click.command()
@click.argument("name", required=False, shell_complete=complete_keys)
@network_command
async def show(session: Session, name: str | None) -> None:
    """Show the address and balance of the key NAME. Default: the key that signs.

    The balance is the total of the coins and the address balance. Transactions can pay with both
    balances.
    """
    if name is None and session.signer_url is not None:
        address, key = session.own_address(), signer_record(session)
    else:
        found = session.settings.locate_account(name or session.wallet_name)
        address, key = found.value.address, key_record(session, found)
    async with session.client() as client:
        with session.output.progress("querying the network"):
            parts = await client.balance_parts(address)
    balance = units.sui(parts.total)
    if parts.in_address:
        balance += f", of which {units.sui(parts.in_address)} in the address balance"
    record = key | {
        "balance_mist": parts.total,
        "coins_mist": parts.in_coins,
        "address_balance_mist": parts.in_address,
        "balance": balance,
    }
    shown = ("alias", "address", "scheme", "encrypted", "source", "balance")
    session.output.record(record, {key: key for key in shown})


@click.command()
@click.argument("name", shell_complete=complete_keys)
@click.argument("alias")
@offline_command
def rename(session: Session, name: str, alias: str) -> None:
    """Rename the key NAME (alias or address) to ALIAS.

    If the setting `wallet` names the key, the command also updates the setting.
    """
    found = session.settings.locate_account(name)
    require_own_key(
        found, "rename", "Run `sui keytool update-alias` to rename a key of the Sui CLI."
    )
    session.settings.rename_account(found, alias)
    session.output.done(f"renamed the key {found.value.alias} to {alias}")
    session.output.record(key_record(session, session.settings.locate_account(alias)))
