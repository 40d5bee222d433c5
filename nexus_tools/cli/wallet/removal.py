"""A key that is forgotten for good."""

import shlex
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, complete_keys, reads
from nexus_tools.cli.wallet.record import key_record, require_ours
from nexus_tools.errors import NotNowError, UnreachableError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.sui.keystore import Account


@click.command()
@click.argument("name", shell_complete=complete_keys)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--force", is_flag=True, help="Although it has SUI, or no node says that it has none."
)
@reads
async def remove(session: Session, name: str, *, force: bool) -> None:
    """Forget the key NAME (alias or address), and with it all that it owns.

    `nexus-tools wallet export NAME` prints it before, for a backup. A key that has SUI on the
    network is kept, with exit code 4, and so is one of which no node tells what it has.
    """
    found = session.settings.locate_account(name)
    require_ours(found, "remove", "the program that keeps it removes it")
    record = key_record(session, found)
    if not force:
        await _require_empty(session, found.what)
    alias = found.what.alias
    session.output.confirm(
        f"Forget the key {alias} for good, and all that it owns?"
        f" `nexus-tools wallet export {shlex.quote(alias)}` prints it for a backup",
        yes=session.yes,
    )
    session.settings.remove_account(found)
    session.output.done(f"forgot the key {alias}")
    if session.output.as_json:
        session.output.document(record)


async def _require_empty(session: Session, account: "Account") -> None:
    """Raises `key_has_sui` or `balance_unknown`."""
    network, force = session.network().name, "--force forgets the key all the same"
    try:
        async with session.client() as client:
            with session.output.progress("asking the network"):
                balance = await client.balance(account.address)
    except UnreachableError as error:
        message = f"whether {account.alias} has SUI on {network} is not known: {error.message}"
        raise NotNowError("balance_unknown", message, hint=force) from error
    if balance:
        message = f"{account.alias} has {units.sui(balance)} on {network}"
        wallet = shlex.quote(account.alias)
        sends = f"`nexus-tools wallet transfer -w {wallet} TO all` sends it elsewhere"
        raise NotNowError("key_has_sui", message, hint=f"{sends}, {force}")
