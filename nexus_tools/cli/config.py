"""`nexus-tools config`: what commands assume."""

from collections.abc import Callable
from typing import Any

import click

from nexus_tools.cli.framework import Session, local
from nexus_tools.errors import NexusError
from nexus_tools.settings import KEYS, Found


@click.group()
def command() -> None:
    """Show and set what commands assume."""


@command.command()
@local
def show(session: Session) -> None:
    """Show the settings, and where they and what they name come from."""
    settings = session.settings
    record = {
        "file": str(settings.config_file),
        "network": settings.network,
        "network_source": _source(settings.locate_network),
        "wallet": settings.wallet or "the keystore's active key",
        "wallet_source": _source(settings.locate_account),
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


def _source(locate: Callable[[], Found[Any]]) -> str | None:
    """Where the network or the key comes from; None if there is none."""
    try:
        return locate().source
    except NexusError:
        return None
