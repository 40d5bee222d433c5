"""Keys that come from elsewhere, and a key as it is written."""

from typing import Any

import click

from nexus_tools.cli.framework import Session, complete_keys, local, read_secret
from nexus_tools.cli.wallet.passphrase import ENCRYPT, new_passphrase
from nexus_tools.cli.wallet.record import key_record, require_ours
from nexus_tools.cli.wallet.sui_import import import_from_sui
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment


@click.command("import")
@click.option("--alias", help="The name of the key.")
@click.option(
    "--secret",
    envvar=environment.SECRET,
    help="The key, which stays in the shell's history; else it is asked for or read from stdin.",
)
@click.option("--from-sui", is_flag=True, help="All keys and networks of the Sui CLI.")
@ENCRYPT
@local
def import_key(
    session: Session, alias: str | None, secret: str | None, *, from_sui: bool, encrypt: bool
) -> None:
    """Import a key: `suiprivkey…`, an entry of a Sui keystore, or a recovery phrase.

    With --from-sui the keys and networks that the Sui CLI has in ~/.sui/sui_config. What is here
    already stays as it is, and so do the networks that everyone knows. With --json: `keys` and
    `networks`, each `new` or not.
    """
    if from_sui:
        if alias or secret or encrypt:
            raise UsageError("from_sui_alone", "--from-sui imports all keys, as they are there")
        _import_from_sui(session)
        return
    from nexus_tools.sui.keystore import KeyPair

    if secret is None:
        secret = read_secret("suiprivkey…, keystore entry or recovery phrase")
    key = KeyPair.parse(secret)
    passphrase = new_passphrase(session, alias) if encrypt else None
    wallet = session.settings.open_wallet()
    known = key.address in [each.address for each in wallet.accounts()]
    account = wallet.add(key, alias, passphrase=passphrase)
    done = f"imported the key {account.alias}"
    session.output.done(f"the key {account.alias} is here already" if known else done)
    session.output.record(key_record(session, session.settings.locate_account(account.address)))


def _import_from_sui(session: Session) -> None:
    accounts, networks = import_from_sui(session.settings)
    keys: list[dict[str, Any]] = [
        key_record(session, session.settings.locate_account(each.what.address)) | {"new": each.new}
        for each in accounts
    ]
    urls = [{"name": each.what.name, "url": each.what.url, "new": each.new} for each in networks]
    new = sum(each.new for each in accounts), sum(each.new for each in networks)
    session.output.done(f"imported from the Sui CLI: {new[0]} keys, {new[1]} networks")
    if session.output.as_json:
        session.output.document({"keys": keys, "networks": urls})
        return
    columns = {"alias": "Key", "address": "Address", "scheme": "Scheme", "new": "New"}
    session.output.table(keys, columns, empty="it has no key")
    columns = {"name": "Network", "url": "URL", "new": "New"}
    session.output.table(urls, columns, empty="it has no network")


@click.command()
@click.argument("name", required=False, shell_complete=complete_keys)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@local
def export(session: Session, name: str | None, *, yes: bool) -> None:
    """Print a key as `suiprivkey…`. Whoever reads it owns what the key owns."""
    found = session.settings.locate_account(name)
    hint = "the program that keeps it prints it, such as `sui keytool export`"
    require_ours(found, "print", hint)
    session.output.confirm(f"Print the secret key of {found.what.alias}?", yes=yes)
    secret = session.settings.open_wallet().export(found.what.address)
    if session.output.as_json:
        session.output.document(key_record(session, found) | {"secret": secret})
    else:
        click.echo(secret)
