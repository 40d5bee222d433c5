"""The command group `nexus-tools package`, for our Move packages and packages of users.

`deployment` publishes packages, and `compiler` builds them. `lock` and `upgrade` control upgrades.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "publish": "Publish a Move package, or the packages of nexus-tools.",
    "upgrade": "Propose, review, and execute upgrades.",
    "lock": "Lock the upgrades of the package of UPGRADE_CAP permanently.",
    "make-immutable": "End all upgrades of a locked package permanently.",
    "show": "Show the package on the network.",
    "use": "Use a published package from now on.",
    "build": "Compile a Move package.",
    "test": "Run the unit tests of a Move package.",
    "interface": "Write the interface of the tool package, for other packages to compile against.",
    "bindings": "Generate a typed Python package for a Move package.",
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
    """Publish, upgrade, and inspect Move packages.

    The commands store the ID of the published package for each network.
    """
