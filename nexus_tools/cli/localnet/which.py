"""Selection of the localnet that a command controls."""

import click

from nexus_tools.cli.framework import Session, complete_networks
from nexus_tools.settings.running_localnet import (
    DEFAULT_NAME,
    RunningLocalnet,
    last_localnet,
    require_localnet,
)

LOCALNET_OPTION = click.option(
    "-n",
    "--network",
    "network_name",
    metavar="NAME",
    help="Name of the localnet. Default: the configured network if it is a localnet, otherwise"
    " `localnet`.",
    shell_complete=complete_networks,
)


def find_localnet(session: Session, name: str | None) -> RunningLocalnet:
    """Return the localnet with a name. Default: the current network if it is your localnet.

    Raises `localnet_not_running`.
    """
    current = session.settings.network
    if name is None:
        name = current if last_localnet(current) else DEFAULT_NAME
    return require_localnet(name)
