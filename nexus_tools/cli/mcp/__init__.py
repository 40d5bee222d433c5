"""The command group `nexus-tools mcp`, which serves the registry to MCP clients.

`serve` has the options, and `serving` builds the server. `install` adds the server to the file of
an MCP client.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "serve": "Serve registered tools and workflows as an MCP server.",
    "install": "Add the MCP server to the configuration of an MCP client.",
    "uninstall": "Remove the MCP server from the configuration of an MCP client.",
}
PLACES = {"uninstall": "install:uninstall"}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Serve the registry to agents as an MCP server."""
