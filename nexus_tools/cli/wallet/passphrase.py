"""The passphrase of a key that is to be kept encrypted."""

import click

from nexus_tools.cli.framework import Session
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment

_LEAST_LENGTH = 8

ENCRYPT = click.option(
    "--encrypt",
    is_flag=True,
    help="Keep the key encrypted, apart from the keystore of the Sui CLI: with a passphrase that is"
    f" asked for, or of {environment.PASSPHRASE_FILE} or {environment.PASSPHRASE}.",
)


def new_passphrase(session: Session, alias: str | None) -> str:
    """A passphrase for a new key; typed twice, if somebody types it. Raises `passphrase_short`."""
    passphrase = session.settings.passphrase
    if passphrase.is_set or passphrase.prompt is None:
        text = passphrase(alias or "that is new")
    else:
        asked = "new passphrase, which nobody can reset"
        text = str(click.prompt(asked, hide_input=True, confirmation_prompt=True, err=True))
    if len(text) < _LEAST_LENGTH:
        raise UsageError(
            "passphrase_short",
            f"the passphrase has {len(text)} characters: whoever has the file guesses it",
            hint=f"take {_LEAST_LENGTH} or more, such as four words",
        )
    return text
