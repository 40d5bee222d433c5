"""The command group `nexus-tools admin`: commands for the package's admin.

Each command is in its own module, but `ownership` contains both `offer` and `accept`.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "show": "Show the admin, the registry settings, and the cost of an invocation.",
    "configure": "Change registry settings for tools, leaders, or invocations.",
    "slash": "Slash the collateral of a tool or a leader.",
    "offer": "Offer the admin role to another account.",
    "accept": "Accept the admin role that was offered to you.",
}
PLACES = {"offer": "ownership:offer", "accept": "ownership:accept"}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Manage registry settings and slashes. All changes require the admin's wallet."""
