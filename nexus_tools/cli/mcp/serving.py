"""An MCP server put together: what it offers, how it calls, where it is served."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

from nexus_tools import units
from nexus_tools.cli.framework import Selection, Session, reach
from nexus_tools.cli.leader_names import find_leaders
from nexus_tools.cli.mcp.stopping import stdin_that_ends, until_stopped
from nexus_tools.embedded_server import host_and_port
from nexus_tools.errors import UsageError
from nexus_tools.lending import (
    Budget,
    Calls,
    Offers,
    OnChainCalls,
    RegistryCatalogue,
    direct_calls,
    direct_config,
    mcp_server,
    serve_http,
    serve_stdio,
)
from nexus_tools.logs import log_to_stderr
from nexus_tools.nexus import Nexus
from nexus_tools.package import ToolState
from nexus_tools.registry import Invocations
from nexus_tools.sui.address import Address
from nexus_tools.version import __version__

_NAME = "nexus-tools"
Options = Mapping[str, Any]


async def serve(session: Session, selection: Selection, options: Options) -> None:
    """Serve until stdin ends, or a signal comes.

    Raises `budget_missing`, `address_invalid`, `config_invalid`, or what the network raises.
    """
    _check(session, options)
    log_to_stderr("json" if session.output.as_json else None)
    place = None if options["http"] is None else host_and_port(options["http"])
    tool_filter = selection.tool_filter(session, ToolState.ACTIVE)
    async with session.nexus(signing=options["on_chain"], endures=True) as nexus:
        offers = Offers(nexus.tools, tool_filter, max_price_mist=options["max_price"])
        leaders = await _leaders(session, nexus, options)
        async with _calls(session, nexus.invocations, leaders, options) as calls:
            catalogue = RegistryCatalogue(offers, calls)
            server = mcp_server(
                catalogue,
                name=_NAME,
                version=__version__,
                instructions=_instructions(session, options),
                page_size=options["page_size"],
                mode=options["mode"],
                domain=selection.domains[0] if len(selection.domains) == 1 else None,
                is_paid=options["on_chain"],
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
    elif options["named"]:
        raise UsageError("option_unfit", "--leader is for --on-chain: other calls need no leader")


async def _leaders(session: Session, nexus: Nexus, options: Options) -> tuple[Address, ...]:
    """Whom invocations name: a list of one's own, or empty for those that did best."""
    if not options["on_chain"]:
        return ()
    named = options["named"]
    return await find_leaders(nexus.leaders, named) if named else session.settings.leaders


@asynccontextmanager
async def _calls(
    session: Session, invocations: Invocations, leaders: tuple[Address, ...], options: Options
) -> AsyncIterator[Calls]:
    if not options["on_chain"]:
        async with direct_calls(direct_config(reach(options))) as direct:
            yield direct
        return
    budget = Budget(options["budget"])
    on_chain = OnChainCalls(
        invocations,
        budget,
        session.output.warn,
        max_outcome_bytes=options["max_outcome_bytes"],
        leaders=leaders,
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
    if not _is_loopback(host):
        session.output.warn(f"whoever reaches {host} can call tools here")
    serving = serve_http(
        server,
        host,
        port,
        allowed_hosts=options["allow_host"],
        on_ready=lambda url: session.output.done(f"serving MCP at {url}, {_ending()}"),
    )
    await until_stopped(serving)


def _is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _ending() -> str:
    return f"until Ctrl-C (pid {os.getpid()})"


def _instructions(session: Session, options: Options) -> str:
    """What a model is told of all these tools."""
    how = "its outcome is written on chain, and paid for" if options["on_chain"] else "not paid for"
    searched = options["mode"] == "search"
    way = " Find tools by find_tools, then describe_tool, then call_tool." if searched else ""
    return (
        f"Tools of the registry on Sui ({session.network().name}). A call is {how}.{way}"
        " A result is one variant with its ports; variants that start with err are failures."
    )
