"""The commands `nexus-tools wallet import` and `export`."""

from typing import Any

import click

from nexus_tools.cli.framework import Session, complete_keys, offline_command, read_secret
from nexus_tools.cli.wallet.passphrase import ENCRYPT, new_passphrase
from nexus_tools.cli.wallet.record import key_record, require_own_key
from nexus_tools.cli.wallet.sui_import import import_from_sui
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment


@click.command("import")
@click.option("--alias", help="Alias of the key.")
@click.option(
    "--secret",
    envvar=environment.SECRET,
    help="Secret of the key, which remains in the shell history. Default: a prompt, or stdin.",
)
@click.option("--from-sui", is_flag=True, help="Import all keys and networks of the Sui CLI.")
@ENCRYPT
@offline_command
def import_key(
    session: Session, alias: str | None, secret: str | None, *, from_sui: bool, encrypt: bool
) -> None:
    """Import a key: `suiprivkey…`, an entry of a Sui keystore, or a recovery phrase.

    With --from-sui, import the keys and networks of the Sui CLI from ~/.sui/sui_config. Existing
    keys and networks and the well-known networks stay unchanged. With --json,
    the fields are `keys` and `networks`. An entry was imported if its field `new` is true.
    """
    if from_sui:
        if alias or secret or encrypt:
            raise UsageError(
                "from_sui_conflict",
                "--from-sui cannot be combined with --alias, --secret or --encrypt",
            )
        _import_from_sui(session)
        return
    from nexus_tools.sui.keystore import KeyPair

    if secret is None:
        secret = read_secret("Secret (suiprivkey…, keystore entry or recovery phrase)")
    key = KeyPair.parse(secret)
    passphrase = new_passphrase(session, alias) if encrypt else None
    wallet = session.settings.open_wallet()
    known = key.address in [existing.address for existing in wallet.accounts()]
    account = wallet.add(key, alias, passphrase=passphrase)
    done = f"imported the key {account.alias}"
    session.output.done(f"the key {account.alias} already exists" if known else done)
    record = key_record(session, session.settings.locate_account(account.address))
    session.output.created(record, record["address"])


def _import_from_sui(session: Session) -> None:
    accounts, networks = import_from_sui(session.settings)
    keys: list[dict[str, Any]] = [
        key_record(session, session.settings.locate_account(account.what.address))
        | {"new": account.new}
        for account in accounts
    ]
    urls = [
        {"name": network.what.name, "url": network.what.url, "new": network.new}
        for network in networks
    ]
    new = sum(account.new for account in accounts), sum(network.new for network in networks)
    session.output.done(f"imported from the Sui CLI: {new[0]} keys, {new[1]} networks")
    if session.output.as_json:
        session.output.document({"keys": keys, "networks": urls})
        return
    columns = {"alias": "Key", "address": "Address", "scheme": "Scheme", "new": "New"}
    session.output.table(keys, columns, empty="no keys")
    columns = {"name": "Network", "url": "URL", "new": "New"}
    session.output.table(urls, columns, empty="no networks")


@click.command()
@click.argument("name", required=False, shell_complete=complete_keys)
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
@offline_command
def export(session: Session, name: str | None, *, yes: bool) -> None:
    """Print a key as `suiprivkey…`. Anyone who knows the key controls everything that it owns."""
    found = session.settings.locate_account(name)
    hint = "Export the key with the program that stores it, for example `sui keytool export`."
    require_own_key(found, "export", hint)
    session.output.confirm(f"Print the secret key of {found.value.alias}?", yes=yes)
    secret = session.settings.open_wallet().export(found.value.address)
    if session.output.as_json:
        session.output.document(key_record(session, found) | {"secret": secret})
    else:
        click.echo(secret)
