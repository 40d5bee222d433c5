"""The passphrase of a new encrypted key."""

import click

from nexus_tools.cli.framework import Session
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment

_LEAST_LENGTH = 8

ENCRYPT = click.option(
    "--encrypt",
    is_flag=True,
    help="Encrypt the key with a passphrase. The Sui CLI cannot read encrypted keys. The command"
    " prompts for the passphrase, or reads it from"
    f" {environment.PASSPHRASE_FILE} or {environment.PASSPHRASE}.",
)


def new_passphrase(session: Session, alias: str | None) -> str:
    """Return a new key's passphrase, and prompt for it twice. Raises `passphrase_too_short`."""
    passphrase = session.settings.passphrase
    if passphrase.is_set or passphrase.prompt is None:
        text = passphrase(alias)
    else:
        asked = "New passphrase (cannot be reset)"
        text = str(click.prompt(asked, hide_input=True, confirmation_prompt=True, err=True))
    if len(text) < _LEAST_LENGTH:
        raise UsageError(
            "passphrase_too_short",
            f"expected a passphrase of at least {_LEAST_LENGTH} characters, got {len(text)}",
            hint="Choose a longer passphrase, for example four words.",
        )
    return text
