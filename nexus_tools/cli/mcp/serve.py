"""`nexus-tools mcp serve`: registered tools and published workflows as an MCP server."""

from typing import Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    DURATION,
    NAMED,
    Selection,
    Session,
    reaches,
    reads,
    selects,
)
from nexus_tools.cli.tool.proof import ASK_DOMAIN


@click.command()
@click.option(
    "--http", metavar="HOST:PORT", help="Serve by HTTP there, and not on stdin and stdout."
)
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name by which clients reach --http."
)
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Let web pages of this origin use --http, besides those of localhost.",
)
@click.option(
    "--mode",
    type=click.Choice(["list", "search"]),
    default="list",
    show_default=True,
    help="List every tool, or serve three that find, describe and call the others.",
)
@click.option(
    "--page-size",
    type=click.IntRange(1, 10_000),
    default=200,
    show_default=True,
    help="How many tools a page of the list has; some clients read the first alone.",
)
@selects
@click.option(
    "--max-price",
    type=AMOUNT,
    help="Only tools that cost, and workflows that begin with, so many SUI at most.",
)
@click.option(
    "--on-chain", is_flag=True, help="Call tools by invocations on chain, and pay for them."
)
@click.option(
    "--workflows",
    is_flag=True,
    help="Serve published workflows, each as a tool, and pay for their executions: they alone, or"
    " with --on-chain beside the tools.",
)
@NAMED
@click.option("--budget", type=AMOUNT, help="On chain: spend at most so many SUI.")
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    default=4_096,
    show_default=True,
    help="On chain: how large an outcome may be; what it does not use is refunded.",
)
@click.option(
    "--lasts",
    type=DURATION,
    default="1d",
    show_default=True,
    help="With --workflows: how long an execution may last.",
)
@click.option("-y", "--yes", is_flag=True, help="On chain: spend without a budget.")
@ASK_DOMAIN
@reaches
@reads
async def command(session: Session, *, selection: Selection, **options: Any) -> None:
    """Serve the active tools of the registry to MCP clients, on stdin and stdout.

    A call goes to the tool's URL, within a Leader's bounds, and nobody is paid. With --on-chain it
    is an invocation that a Leader carries and closes, paid from the wallet. With --workflows a call
    is an execution of a published workflow, and its result is what that came to.

    Text of other authors is marked as theirs. Their hints, such as readOnlyHint, are left out,
    unless the tool is in a --domain that lists its owner.
    """
    from nexus_tools.cli.mcp.serving import serve

    await serve(session, selection, options)
