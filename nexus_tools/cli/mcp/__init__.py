"""`nexus-tools mcp`: the registry for MCP clients."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "serve": "Serve registered tools and workflows as an MCP server.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Offer the registry to agents as an MCP server."""
