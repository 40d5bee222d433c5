"""`nexus-tools bridge register`: tools of other systems into the registry."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.bridge.borrowing import Borrowing, borrows
from nexus_tools.cli.bridge.show import require_tools, warn_of_refusals
from nexus_tools.cli.framework import AMOUNT, CA_FILE, Session, writes
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.tool import ToolDefinition


@click.command()
@click.option("--url", required=True, help="The URL of the `bridge serve` that serves them.")
@click.option("--price", type=AMOUNT, help="What an invocation costs, in SUI; 0 by default.")
@click.option("--unchecked", is_flag=True, help="Do not ask the running server for its tools.")
@CA_FILE
@borrows
@writes
async def command(
    session: Session,
    *,
    borrowing: Borrowing,
    url: str,
    price: int | None,
    ca_file: Path | None,
    unchecked: bool,
) -> None:
    """Register the tools in PATH..., all in one transaction, and lock the collateral of each.

    They have to be served at URL already, with the same options. None of them is invoked for it.
    """
    from nexus_tools.cli.tool.register import register
    from nexus_tools.toolkit import ToolServer

    with borrowing.host(session) as host:
        found = await borrowing.discover(session, host)
    warn_of_refusals(session.output, found)
    require_tools(found)
    definitions = ToolServer(found.tools).definitions(url)
    if not unchecked:
        await _check_served(session, url, definitions, ca_file)
    await register(session, definitions, price)


async def _check_served(
    session: Session, url: str, definitions: "list[ToolDefinition]", ca_file: Path | None
) -> None:
    """Raises `tool_unreachable`, `not_a_tool`, or `served_otherwise`."""
    from nexus_tools.cli.tool.served_definitions import open_http, served_definitions

    async with open_http(ca_file) as http:
        with session.output.progress(f"reading definitions from {url}"):
            served = await served_definitions(http, url, every=True)
    known = {definition.fqn: definition for definition in served.values()}
    for definition in definitions:
        other = known.get(definition.fqn)
        if other is None or other.as_json() != definition.as_json():
            what = "does not serve" if other is None else "serves another definition of"
            raise ValidationError(
                "served_otherwise",
                f"{url} {what} {definition.fqn}",
                hint="call `bridge serve` with the same paths and options, and with --public-url",
            )
