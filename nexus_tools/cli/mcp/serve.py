"""The command `nexus-tools mcp serve`, for registered tools and published workflows."""

from typing import Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    Session,
    ToolSelection,
    leaders_option,
    network_command,
    network_policy_options,
    registry_filter_options,
)
from nexus_tools.cli.shared.index_urls import INDEX_URL_OPTION
from nexus_tools.cli.tool.proof import CHECK_DOMAIN


@click.command()
@click.option(
    "--http",
    metavar="[HOST:]PORT",
    help="Serve over HTTP instead of stdin and stdout. Default host: 127.0.0.1.",
)
@click.option(
    "--allow-unauthenticated",
    is_flag=True,
    help="Allow --http on an address that other machines can reach, although the server does not"
    " authenticate clients.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Host name that clients may use with --http. May be repeated.",
)
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Origin of web pages that may use --http, in addition to localhost.",
)
@click.option(
    "--mode",
    type=click.Choice(["list", "search"]),
    default="list",
    show_default=True,
    help="List every tool, or serve three tools that search, describe and call the others.",
)
@click.option(
    "--page-size",
    type=click.IntRange(1, 10_000),
    default=200,
    show_default=True,
    help="Tools per page of the list. Some clients only read the first page.",
)
@registry_filter_options
@click.option(
    "--max-price",
    type=AMOUNT,
    help="Maximum price of a served tool, or maximum default funds of a served workflow's"
    " execution, in SUI.",
)
@INDEX_URL_OPTION
@click.option("--on-chain", is_flag=True, help="Call tools with paid on-chain invocations.")
@click.option(
    "--workflows",
    is_flag=True,
    help="Serve each published workflow as a tool. A call is a paid execution. Combine with"
    " --on-chain to also serve tools.",
)
@leaders_option("Leader of paid calls")
@click.option("--budget", type=AMOUNT, help="Maximum amount that this process spends, in SUI.")
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    default=4_096,
    show_default=True,
    help="Maximum size of an outcome in paid calls. Unused bytes are refunded.",
)
@click.option(
    "--deadline",
    type=DURATION,
    default="1d",
    show_default=True,
    help="Maximum duration of an execution with --workflows.",
)
@click.option("-y", "--yes", is_flag=True, help="Allow paid calls without a budget.")
@CHECK_DOMAIN
@network_policy_options
@network_command
async def command(session: Session, *, selection: ToolSelection, **options: Any) -> None:
    """Serve the active tools of the registry to MCP clients, on stdin and stdout.

    By default, a call is free. The server calls the tool's URL directly, with the limits of a
    Leader. With --on-chain, a call is an invocation that a Leader dispatches and closes, and the
    wallet pays for it. With --workflows, a call runs a published workflow and returns its results.

    The server marks text of tool authors as untrusted. The server also removes the authors' hints,
    such as readOnlyHint, unless the tool is in a --domain that confirms the tool's owner.
    """
    from nexus_tools.cli.mcp.serving import serve

    await serve(session, selection, options)
