"""The command group `nexus-tools mcp`, which serves the registry to MCP clients.

`serve` has the options, and `serving` builds the server.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "serve": "Serve registered tools and workflows as an MCP server.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Serve the registry to agents as an MCP server."""
