"""The command `nexus-tools wallet remove`."""

import shlex
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, complete_keys, network_command
from nexus_tools.cli.wallet.record import key_record, require_own_key
from nexus_tools.errors import UnreachableError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.sui.keystore import Account


@click.command()
@click.argument("name", shell_complete=complete_keys)
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
@click.option(
    "--force", is_flag=True, help="Delete the key even if it has SUI, or its balance is unknown."
)
@network_command
async def remove(session: Session, name: str, *, force: bool) -> None:
    """Delete the key NAME (alias or address), and lose access to everything that it owns.

    To back up the key first, run `nexus-tools wallet export NAME`. If the key has SUI on
    the network, or its balance cannot be read, the command exits with code 4.
    """
    found = session.settings.locate_account(name)
    require_own_key(found, "remove", "Remove the key with the program that stores it.")
    record = key_record(session, found)
    if not force:
        await _require_empty(session, found.value)
    alias, named = found.value.alias, f"{found.value.alias} ({found.value.address})"
    session.output.confirm(
        f"Delete the key {named} permanently, and lose everything that it owns?"
        f" (Backup: `nexus-tools wallet export {shlex.quote(alias)}`)",
        yes=session.yes,
    )
    session.settings.remove_account(found)
    session.output.done(f"deleted the key {named}")
    if session.output.as_json:
        session.output.document(record)


async def _require_empty(session: Session, account: "Account") -> None:
    """Raise `key_not_empty` or `balance_unknown`."""
    network, force = session.network().name, "pass --force to delete the key anyway."
    try:
        async with session.client() as client:
            with session.output.progress("querying the network"):
                balance = await client.balance(account.address)
    except UnreachableError as error:
        message = f"cannot read the balance of {account.alias} on {network}: {error.message}"
        hint = f"Try again, or {force}"
        raise WrongStateError("balance_unknown", message, hint=hint) from error
    if balance:
        message = f"{account.alias} has {units.sui(balance)} on {network}"
        wallet = shlex.quote(account.alias)
        sends = f"Run `nexus-tools wallet transfer -w {wallet} TO all` to transfer it"
        raise WrongStateError("key_not_empty", message, hint=f"{sends}, or {force}")
