"""The command group `nexus-tools completion`, which sets up shell completion.

`install` writes the scripts that `script` generates.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "install": "Install completion for your shell.",
    "bash": "Print the completion script for bash.",
    "zsh": "Print the completion script for zsh.",
    "fish": "Print the completion script for fish.",
}
PLACES = {
    "install": "install:install",
    **{shell: f"script:{shell}" for shell in list(COMMANDS)[1:]},
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Set up shell completion of commands, FQNs, networks and keys."""
