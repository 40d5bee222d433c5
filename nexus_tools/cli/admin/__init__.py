"""`nexus-tools admin`: what the admin of the package decides for all."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "show": "Show who the admin is, the settings, and what an invocation costs by them.",
    "configure": "Change what tools, or leaders and invocations, have to keep to.",
    "slash": "Burn of the collateral of a tool or a leader, in two steps.",
    "offer": "Offer the administration to another owner.",
    "accept": "Take over the administration that was offered.",
}
PLACES = {"offer": "ownership:offer", "accept": "ownership:accept"}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Decide as the admin of the package, with the wallet that owns the administration."""
