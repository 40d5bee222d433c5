"""The localnet that a command controls: the one that is named, or that the settings name."""

import click

from nexus_tools.cli.framework import Session, complete_networks
from nexus_tools.settings.running_localnet import (
    USUAL_NAME,
    RunningLocalnet,
    last_localnet,
    require_localnet,
)

ONE_OF_YOURS = click.option(
    "-n",
    "--network",
    "network_name",
    metavar="NAME",
    help="The name of the localnet, if you have several.",
    shell_complete=complete_networks,
)


def named_localnet(session: Session, name: str | None) -> RunningLocalnet:
    """Return the localnet `name`. Default: the current network if it is a localnet of yours.

    Raises `localnet_not_running`.
    """
    current = session.settings.network
    if name is None:
        name = current if last_localnet(current) else USUAL_NAME
    return require_localnet(name)
