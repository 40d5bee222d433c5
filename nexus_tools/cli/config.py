"""`nexus-tools config`: what commands assume."""

import click

from nexus_tools.cli.command import local
from nexus_tools.cli.session import Session
from nexus_tools.cli.settings import KEYS


@click.group()
def command() -> None:
    """Show and set what commands assume."""


@command.command()
@local
def show(session: Session) -> None:
    """Show the settings, and where they come from."""
    settings = session.settings
    record = {
        "file": str(settings.config_file),
        "network": settings.network,
        "wallet": settings.wallet or "the keystore's active key",
        "keystore": str(settings.keystore),
        "from_environment": sorted(settings.overrides),
    }
    session.output.record(record)


@command.command("set")
@click.argument("key", type=click.Choice(list(KEYS)))
@click.argument("value")
@local
def set_value(session: Session, key: str, value: str) -> None:
    """Set KEY to VALUE in the file."""
    session.settings.values[key] = value
    session.settings.save()
    session.output.done(f"{key} is {value}")
    if session.output.as_json:
        session.output.document({key: value})
