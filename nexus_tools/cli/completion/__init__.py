"""`nexus-tools completion`: the shell completes commands, and the names that they take."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "install": "Let your shell complete from now on.",
    "bash": "Print the script for bash.",
    "zsh": "Print the script for zsh.",
    "fish": "Print the script for fish.",
}
PLACES = {
    "install": "install:install",
    **{shell: f"script:{shell}" for shell in list(COMMANDS)[1:]},
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Complete commands, FQNs, networks and keys in your shell."""
