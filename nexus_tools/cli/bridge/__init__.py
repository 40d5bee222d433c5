"""`nexus-tools bridge`: tools of other systems, shown, served and registered as they are."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "show": "Show what is found in a folder, and what is refused and why.",
    "serve": "Serve the tools of a folder over HTTP.",
    "credential": "Keep the credentials that tools get.",
    "register": "Register the tools of a folder that are being served.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Serve and register tools of Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP."""
