"""The passphrase of a key that is to be kept encrypted."""

import click

from nexus_tools import environment
from nexus_tools.cli.framework import Session

ENCRYPT = click.option(
    "--encrypt",
    is_flag=True,
    help="Keep the key encrypted, apart from the keystore of the Sui CLI: with a passphrase that is"
    f" asked for, or of {environment.PASSPHRASE_FILE} or {environment.PASSPHRASE}.",
)


def new_passphrase(session: Session, alias: str | None) -> str:
    """A passphrase for a new key; typed twice, if somebody types it."""
    passphrase = session.settings.passphrase
    if passphrase.is_set or passphrase.prompt is None:
        return passphrase(alias or "that is new")
    text = "new passphrase, which nobody can reset"
    return str(click.prompt(text, hide_input=True, confirmation_prompt=True, err=True))
