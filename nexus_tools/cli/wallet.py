"""`nexus-tools wallet`: the keys that sign."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import local, reads
from nexus_tools.cli.session import Session

if TYPE_CHECKING:
    from nexus_tools.client.wallet import Account

_SCHEMES = click.Choice(["ed25519", "secp256k1", "secp256r1"])


@click.group()
def command() -> None:
    """Make and choose keys.

    Keys are kept in a keystore of the form that the Sui client has, readable by you alone.
    """


@command.command()
@click.argument("alias", required=False)
@click.option(
    "--scheme", type=_SCHEMES, default="ed25519", show_default=True, help="How the key signs."
)
@local
def new(session: Session, alias: str | None, scheme: str) -> None:
    """Make a key. Its recovery phrase is shown once and kept nowhere."""
    from nexus_tools.sui.signature import SignatureScheme  # noqa: PLC0415 - not for `--help`

    account, mnemonic = session.wallet().new(alias, SignatureScheme[scheme.upper()])
    session.output.done(f"made the key {account.alias} in {session.settings.keystore}")
    if session.output.as_json:
        session.output.document(_record(account) | {"recovery_phrase": mnemonic})
        return
    session.output.record(_record(account))
    session.output.warn("write down the recovery phrase, it is not shown again:")
    session.output.note(f"  {mnemonic}")


@command.command("list")
@local
def list_keys(session: Session) -> None:
    """List the keys."""
    rows = [_record(account) for account in session.wallet().accounts()]
    columns = {"alias": "Alias", "address": "Address", "scheme": "Scheme", "active": "Active"}
    session.output.table(rows, columns, empty="no key yet: `nexus-tools wallet new` makes one")


@command.command()
@click.argument("name")
@local
def use(session: Session, name: str) -> None:
    """Sign with the key NAME (alias or address) from now on."""
    account = session.wallet().use(name)
    session.output.done(f"commands sign with {account.alias}")
    if session.output.as_json:
        session.output.document(_record(account))


@command.command()
@click.argument("name", required=False)
@reads
async def show(session: Session, name: str | None) -> None:
    """Show a key's address and balance; without NAME, those of the key that signs."""
    wanted = name or session.wallet_name or session.settings.wallet
    account = session.wallet().account(wanted)
    async with session.client() as client:
        balance = await client.balance(account.address)
    record = _record(account) | {"balance_mist": balance, "balance": units.sui(balance)}
    session.output.record(
        record,
        {"alias": "alias", "address": "address", "scheme": "scheme", "balance": "balance"},
    )


@command.command("import")
@click.option("--alias", help="The name of the key.")
@click.option(
    "--secret",
    prompt="suiprivkey…, keystore entry or recovery phrase",
    hide_input=True,
    envvar="NEXUS_TOOLS_SECRET",
    help="The key; asked for if it is not given, so that it stays out of the shell's history.",
)
@local
def import_key(session: Session, alias: str | None, secret: str) -> None:
    """Import a key: `suiprivkey…`, an entry of a Sui keystore, or a recovery phrase."""
    from nexus_tools.client import KeyPair  # noqa: PLC0415 - not for `--help`

    account = session.wallet().add(KeyPair.parse(secret), alias)
    session.output.done(f"imported the key {account.alias}")
    session.output.record(_record(account))


@command.command()
@click.argument("name", required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@local
def export(session: Session, name: str | None, yes: bool) -> None:
    """Print a key as `suiprivkey…`. Whoever reads it owns what the key owns."""
    wallet = session.wallet()
    account = wallet.account(name or session.settings.wallet)
    session.output.confirm(f"Print the secret key of {account.alias}?", yes=yes)
    secret = wallet.export(account.address)
    if session.output.as_json:
        session.output.document(_record(account) | {"secret": secret})
    else:
        click.echo(secret)


def _record(account: "Account") -> dict[str, Any]:
    return {
        "alias": account.alias,
        "address": str(account.address),
        "scheme": account.scheme.name.lower(),
        "active": account.active,
    }
