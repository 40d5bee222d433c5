"""The command group `nexus-tools bridge`, for tools of other frameworks.

`options` has the shared options, and `systems` has the options of each framework.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "show": "Show the tools in a folder, and the reason for each rejection.",
    "serve": "Serve the tools of a folder over HTTP.",
    "credential": "Manage the credentials of bridged tools.",
    "register": "Register bridged tools that are being served.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Serve and register tools of Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP servers."""
