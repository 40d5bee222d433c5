"""An MCP server put together: what it offers, how it calls, where it is served."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from nexus_tools import __version__
from nexus_tools.bridges.mcp.server import mcp_server, serve_stdio
from nexus_tools.cli import units
from nexus_tools.cli.leader_daemon import log_to_stderr
from nexus_tools.cli.mcp.budget import Budget
from nexus_tools.cli.mcp.catalogue import Calls, RegistryCatalogue
from nexus_tools.cli.mcp.direct import direct_calls, direct_settings
from nexus_tools.cli.mcp.http import is_loopback, serve_http
from nexus_tools.cli.mcp.offers import Offers
from nexus_tools.cli.mcp.on_chain import OnChainCalls
from nexus_tools.cli.mcp.stopping import stdin_that_ends, until_stopped
from nexus_tools.cli.reach import reach
from nexus_tools.cli.selection import Selection
from nexus_tools.cli.serving import socket_address
from nexus_tools.cli.session import Session
from nexus_tools.client import SuiClient
from nexus_tools.errors import UsageError
from nexus_tools.registry import Deployment, Invocations, ToolRegistry, ToolState

_NAME = "nexus-tools"
Options = Mapping[str, Any]


async def serve(session: Session, selection: Selection, options: Options) -> None:
    """Serve until stdin ends, or a signal comes.

    Raises `budget_missing`, `address_invalid`, `settings_invalid`, or what the network raises.
    """
    _check(session, options)
    log_to_stderr("json" if session.output.as_json else None)
    place = None if options["http"] is None else socket_address(options["http"])
    tool_filter = selection.tool_filter(session, ToolState.ACTIVE)
    async with session.client(signing=options["on_chain"]) as client:
        deployment = await session.deployment(client)
        registry = ToolRegistry(client, deployment)
        offers = Offers(registry, tool_filter, max_price_mist=options["max_price"])
        async with _calls(session, client, deployment, options) as calls:
            catalogue = RegistryCatalogue(offers, calls)
            server = mcp_server(
                catalogue,
                name=_NAME,
                version=__version__,
                instructions=_instructions(session, options),
            )
            if place is None:
                await _on_stdio(session, server)
            else:
                await _on_http(session, server, place, options)


def _check(session: Session, options: Options) -> None:
    """Nobody spends without having said how much, and says so without spending."""
    if options["on_chain"]:
        if options["budget"] is None and not session.yes:
            raise UsageError(
                "budget_missing",
                "calls on chain spend SUI",
                hint="pass --budget SUI for the life of the server, or --yes for no bound",
            )
    elif options["budget"] is not None:
        raise UsageError("option_unfit", "--budget is for --on-chain: other calls cost nothing")


@asynccontextmanager
async def _calls(
    session: Session, client: SuiClient, deployment: Deployment, options: Options
) -> AsyncIterator[Calls]:
    if not options["on_chain"]:
        async with direct_calls(direct_settings(reach(options))) as direct:
            yield direct
        return
    budget = Budget(options["budget"])
    on_chain = OnChainCalls(
        Invocations(client, deployment),
        budget,
        session.output,
        max_outcome_bytes=options["max_outcome_bytes"],
    )
    try:
        yield on_chain
    finally:
        await on_chain.close()
        session.output.note(f"spent {units.sui(budget.spent_mist)}")


async def _on_stdio(session: Session, server: Any) -> None:
    async def serving() -> None:
        session.output.note(f"serving MCP on stdin and stdout, {_ending()}")
        try:
            await serve_stdio(server)
        except* ConnectionError:
            pass  # the client has gone before it read everything

    with stdin_that_ends() as end:
        await until_stopped(serving(), end)


async def _on_http(session: Session, server: Any, place: tuple[str, int], options: Options) -> None:
    host, port = place
    if not is_loopback(host):
        session.output.warn(f"whoever reaches {host} can call tools here")
    serving = serve_http(
        server,
        host,
        port,
        allowed_hosts=options["allow_host"],
        on_ready=lambda url: session.output.done(f"serving MCP at {url}, {_ending()}"),
    )
    await until_stopped(serving)


def _ending() -> str:
    return f"until Ctrl-C (pid {os.getpid()})"


def _instructions(session: Session, options: Options) -> str:
    """What a model is told of all these tools."""
    how = "its outcome is settled on chain, and paid for" if options["on_chain"] else "not paid for"
    return (
        f"Tools of the registry on Sui ({session.network().name}). A call is {how}."
        " A result is one variant with its ports; variants that start with err are failures."
    )
