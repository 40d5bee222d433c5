"""The command `nexus-tools bridge serve`, which serves bridged tools over HTTP."""

import asyncio

import click

from nexus_tools.cli.bridge.options import BridgeOptions, bridge_options
from nexus_tools.cli.bridge.show import require_tools, warn_of_refusals
from nexus_tools.cli.framework import ServerOptions, Session, offline_command, server_options


@click.command()
@bridge_options
@server_options
@offline_command
def command(session: Session, *, bridge: BridgeOptions, serving: ServerOptions) -> None:
    """Serve the tools in PATH... until Ctrl-C. Each call runs in a separate process."""
    from nexus_tools.bridges import hide_environment
    from nexus_tools.tool_server import ToolServer

    hide_environment()
    with bridge.host(session) as host:
        found = asyncio.run(bridge.discover(session, host))
        warn_of_refusals(session.output, found)
        require_tools(found)
        server = ToolServer(
            found.tools, lifespan=lambda _: found.running(), public_url=serving.public_url
        )
        serving.run(server, session)
