"""`nexus-tools package`: the Move package of registries and invocations, and yours."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "publish": "Publish a Move package, or the one that comes with nexus-tools.",
    "upgrade": "Propose upgrades, execute them, see what is proposed.",
    "lock": "Lock the upgrades of a published package, for good.",
    "make-immutable": "End all upgrades of a locked package, for good.",
    "show": "Show the package on the network.",
    "use": "Use a published package from now on.",
    "build": "Compile a Move package.",
    "test": "Run the unit tests of a Move package.",
    "interface": "Write what our package offers, for yours to compile against.",
    "bindings": "Write a typed Python package for a Move package.",
}
PLACES = {
    "publish": "deployment:publish",
    "show": "deployment:show",
    "use": "deployment:use",
    "lock": "lock:lock",
    "make-immutable": "lock:make_immutable",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Publish and inspect the Move package.

    Commands remember for each network where it is published.
    """
