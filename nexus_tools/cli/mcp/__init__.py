"""`nexus-tools mcp`: the registry for MCP clients."""

import click

from nexus_tools.cli.lazy import LazyGroup

COMMANDS = {
    "serve": ("nexus_tools.cli.mcp.serve", "Serve the registered tools as an MCP server."),
}


@click.group(
    cls=LazyGroup,
    modules={name: module for name, (module, _) in COMMANDS.items()},
    summaries={name: summary for name, (_, summary) in COMMANDS.items()},
)
def command() -> None:
    """Offer the registry to agents as an MCP server."""
