"""The command group `nexus-tools package upgrade`: proposals and their execution.

`verbs` has the owner's actions. `execute`, `show` and `watch` are in their own modules.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "propose": "Propose an upgrade of a locked package.",
    "execute": "Execute a proposed upgrade, or upgrade an unlocked package.",
    "cancel": "Cancel a proposed upgrade.",
    "show": "Show the upgrade policy and the proposed upgrade.",
    "watch": "Follow the events of locked packages.",
    "offer": "Offer the lock of a package to another account.",
    "accept": "Accept a lock that was offered to you.",
}
PLACES = {name: f"verbs:{name}" for name in ("propose", "cancel", "offer", "accept")}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Propose, review, and execute upgrades of locked packages.

    Anyone can execute an upgrade from 14 to 21 days after its proposal. Name a package by the ID
    of any of its versions. Default: the tool package of nexus-tools.
    """
