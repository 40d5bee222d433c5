"""`nexus-tools wallet`: the keys that sign."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools import environment, units
from nexus_tools.cli.framework import Choice, Session, local, reads
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.settings import OURS

if TYPE_CHECKING:
    from nexus_tools.client import Account
    from nexus_tools.settings import Found
    from nexus_tools.sui.address import Address

_SCHEMES = Choice(["ed25519", "secp256k1", "secp256r1"])


@click.group()
def command() -> None:
    """Make and choose keys.

    Keys are kept in a keystore of the form that the Sui client has, readable by you alone. Those
    of the Sui CLI and of pysui are found there, and stay there.
    """


@command.command()
@click.argument("alias", required=False)
@click.option(
    "--scheme", type=_SCHEMES, default="ed25519", show_default=True, help="How the key signs."
)
@local
def new(session: Session, alias: str | None, scheme: str) -> None:
    """Make a key. Its recovery phrase is shown once and kept nowhere."""
    from nexus_tools.sui.signature import SignatureScheme

    wallet = session.settings.open_wallet()
    account, mnemonic = wallet.new(alias, SignatureScheme[scheme.upper()])
    session.output.done(f"made the key {account.alias} in {wallet.path}")
    record = _told(session, session.settings.locate_account(account.address))
    if session.output.as_json:
        session.output.document(record | {"recovery_phrase": mnemonic})
        return
    session.output.record(record)
    session.output.warn("write down the recovery phrase, it is not shown again:")
    session.output.note(f"  {mnemonic}")


@command.command("list")
@local
def list_keys(session: Session) -> None:
    """List the keys: ours, those of the Sui CLI, and those of pysui."""
    active = _active(session)
    rows = [
        _record(found, active) for found in session.settings.all_accounts(session.output.overlooked)
    ]
    columns = {
        "alias": "Alias",
        "address": "Address",
        "scheme": "Scheme",
        "active": "Active",
        "source": "Source",
    }
    session.output.table(rows, columns, empty="no key yet: `nexus-tools wallet new` makes one")


@command.command()
@click.argument("name")
@local
def use(session: Session, name: str) -> None:
    """Sign with the key NAME (alias or address) from now on."""
    found = session.settings.locate_account(name)
    session.settings.use_account(found)
    overruled = not found.what.is_named(session.settings.wallet or found.what.address)
    session.report_setting("wallet", f"commands sign with {found.what.alias}", overruled=overruled)
    if session.output.as_json:
        session.output.document(_told(session, session.settings.locate_account(name)))


@command.command()
@click.argument("name", required=False)
@reads
async def show(session: Session, name: str | None) -> None:
    """Show a key's address and balance; without NAME, those of the key that signs."""
    found = session.settings.locate_account(name or session.wallet_name)
    async with session.client() as client:
        balance = await client.balance(found.what.address)
    record = _told(session, found) | {"balance_mist": balance, "balance": units.sui(balance)}
    shown = ("alias", "address", "scheme", "source", "balance")
    session.output.record(record, {key: key for key in shown})


@command.command("import")
@click.option("--alias", help="The name of the key.")
@click.option(
    "--secret",
    prompt="suiprivkey…, keystore entry or recovery phrase",
    hide_input=True,
    envvar=environment.SECRET,
    help="The key; asked for if it is not given, so that it stays out of the shell's history.",
)
@local
def import_key(session: Session, alias: str | None, secret: str) -> None:
    """Import a key: `suiprivkey…`, an entry of a Sui keystore, or a recovery phrase."""
    from nexus_tools.client import KeyPair

    account = session.settings.open_wallet().add(KeyPair.parse(secret), alias)
    session.output.done(f"imported the key {account.alias}")
    session.output.record(_told(session, session.settings.locate_account(account.address)))


@command.command()
@click.argument("name", required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@local
def export(session: Session, name: str | None, yes: bool) -> None:
    """Print a key as `suiprivkey…`. Whoever reads it owns what the key owns."""
    found = session.settings.locate_account(name)
    if found.source != OURS:
        raise UsageError(
            "account_elsewhere",
            f"the key {found.what.alias} is not ours to print: it is in {found.file}",
            hint="the program that keeps it prints it, such as `sui keytool export`",
        )
    session.output.confirm(f"Print the secret key of {found.what.alias}?", yes=yes)
    secret = session.settings.open_wallet().export(found.what.address)
    if session.output.as_json:
        session.output.document(_told(session, found) | {"secret": secret})
    else:
        click.echo(secret)


def _told(session: Session, found: "Found[Account]") -> dict[str, Any]:
    return _record(found, _active(session))


def _active(session: Session) -> "Address | None":
    """The address that signs unless something else is said."""
    try:
        return session.settings.locate_account().what.address
    except NotFoundError:
        return None


def _record(found: "Found[Account]", active: "Address | None") -> dict[str, Any]:
    account = found.what
    return {
        "alias": account.alias,
        "address": str(account.address),
        "scheme": account.scheme.name.lower(),
        "active": account.address == active,
        "source": found.source,
    }
