"""`nexus-tools package upgrade`: what is proposed, and what becomes of it."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "propose": "Propose an upgrade of a locked package.",
    "execute": "Carry out what was proposed; of a free package, at once.",
    "cancel": "Take a proposal back.",
    "show": "Show what is proposed, since when, until when.",
    "watch": "Follow what happens to locked packages.",
    "offer": "Offer the lock of a package to another owner.",
    "accept": "Take over a lock that was offered.",
}
PLACES = {name: f"verbs:{name}" for name in ("propose", "cancel", "offer", "accept")}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Upgrade locked packages: 14 days after an upgrade was proposed, and for 7 days.

    A package is named by the id of any of its versions; without one, ours is meant.
    """
