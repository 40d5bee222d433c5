"""`nexus-tools admin`: what the holder of the AdminCap decides for all."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "configure": "Change what tools, or leaders and invocations, have to keep to.",
    "slash": "Burn of the collateral of a tool or a leader, in two steps.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Decide as the admin of the package, with the wallet that has its AdminCap."""
