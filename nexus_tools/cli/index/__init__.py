"""The command group `nexus-tools index`: an index of the registry in a local file.

`opening` opens the index of the selected network.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "run": "Build the index and keep it current until Ctrl-C.",
    "status": "Show the index and compare it with the chain.",
    "serve": "Serve the index as a read-only HTTP API.",
    "snapshot": "Create a snapshot, from which others can start their index.",
    "fetch": "Replace the index with a published snapshot.",
    "rebuild": "Read all events again and replace the index.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Index tools, leaders, invocations and workflows in a local file."""
