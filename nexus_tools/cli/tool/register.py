"""`nexus-tools tool register`: tools into the registry."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import AMOUNT, CA_FILE, Output, Session, carry_out, report, writes
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.package.move.tool_registry import ToolSettings
    from nexus_tools.registry import RegisterResult
    from nexus_tools.tool import ToolDefinition


@click.command()
@click.option("--url", help="The URL of a running tool; its definition is read from there.")
@click.option("--all", "every", is_flag=True, help="With --url of a server: all of its tools.")
@click.option(
    "--from-meta",
    metavar="FILE|-",
    help="Read definitions from a file, or from stdin: one, or an array of them.",
)
@click.option("--price", type=AMOUNT, help="What an invocation costs, in SUI; 0 by default.")
@click.option("--unchecked", is_flag=True, help="Do not call the running tool to check it.")
@CA_FILE
@writes
async def command(
    session: Session,
    *,
    url: str | None,
    from_meta: str | None,
    price: int | None,
    ca_file: Path | None,
    every: bool,
    unchecked: bool,
) -> None:
    """Register tools, all in one transaction, and lock the collateral of each.

    What is registered already with the same definition is left as it is, with its price.
    """
    if (url is None) == (from_meta is None):
        raise UsageError("source_missing", "name one source: --url URL or --from-meta FILE")
    if url is None:
        definitions = _from_file(str(from_meta))
    else:
        definitions = await _from_server(session, url, ca_file, every=every, unchecked=unchecked)
    await register(session, definitions, price)


async def register(
    session: Session, definitions: "Sequence[ToolDefinition]", price: int | None
) -> None:
    """Register definitions at a price in MIST, asking before, and print what was done."""
    from nexus_tools.registry import Registration

    async with session.nexus() as nexus:
        settings = await nexus.tools.settings()
        registrations = [Registration(definition, price or 0) for definition in definitions]
        result = await carry_out(
            session,
            nexus.tools,
            lambda service: service.register(*registrations),
            question=lambda rehearsed: _question(rehearsed, settings),
        )
    _report(session, result, settings)
    _warn_of_prices(session.output, result, price)


def _warn_of_prices(output: Output, result: "RegisterResult", price: int | None) -> None:
    """Warn of prices that are not what one would think: kept ones, and those of new versions."""
    for tool in result.tools:
        change = f"`nexus-tools tool update {tool.fqn} --price SUI` changes it"
        cost = units.sui(tool.price_mist)
        if not tool.new and price not in (None, tool.price_mist):
            output.warn(f"the price of {tool.fqn} is {cost}, as it was before: {change}")
        elif tool.new and price is None and tool.fqn.version > 1:
            output.warn(f"{tool.fqn} costs {cost}, whatever earlier versions cost: {change}")


def _question(rehearsed: "RegisterResult", settings: "ToolSettings") -> str:
    """What is going to be locked; empty if nothing is."""
    new = [str(tool.fqn) for tool in rehearsed.tools if tool.new]
    if rehearsed.sent is None:
        return ""
    locked = units.sui(len(new) * settings.collateral_mist)
    delay = units.duration(settings.unregister_delay_ms)
    return (
        f"Register {', '.join(new)}, {_cost(rehearsed)}: lock {locked}, which can be claimed"
        f" {delay} after unregistering, and pay {units.sui(rehearsed.sent.cost.net)} for gas and"
        " storage?"
    )


def _cost(result: "RegisterResult") -> str:
    """What an invocation of the new tools costs, which all have the same price."""
    return (
        f"at {units.sui(next(tool.price_mist for tool in result.tools if tool.new))} an invocation"
    )


def _report(session: Session, result: "RegisterResult", settings: "ToolSettings") -> None:
    output = session.output
    rows: list[dict[str, Any]] = [
        {
            "fqn": str(tool.fqn),
            "tool": str(tool.tool),
            "owner_cap": str(tool.owner_cap),
            "registered": tool.new,
            "price_mist": tool.price_mist,
        }
        for tool in result.tools
    ]
    for row in rows:
        if not row["registered"]:
            output.done(f"{row['fqn']} is registered already, with the same definition")
    new = [row for row in rows if row["registered"]]
    locked = len(new) * settings.collateral_mist
    record: dict[str, Any] = {"tools": rows, "collateral_mist": locked}
    if result.sent is None:
        if output.as_json:
            output.document(record | {"dry_run": False, "digest": None, "cost_mist": 0})
        return
    names = ", ".join(row["fqn"] for row in new)
    done = f"registered {names}, {_cost(result)}: {units.sui(locked)} locked"
    if output.as_json:
        report(output, result.sent, done, record)
    else:
        report(output, result.sent, done, {row["fqn"]: row["tool"] for row in new})


def _from_file(name: str) -> "tuple[ToolDefinition, ...]":
    """Definitions from a file or stdin. Raises as `ToolDefinition.parse` does."""
    from nexus_tools.cli.framework import read_json
    from nexus_tools.tool import ToolDefinition

    document = read_json(name)
    documents = document if isinstance(document, list) else [document]
    if not documents:
        raise UsageError("definitions_missing", f"{name} has no definition in it")
    return tuple(ToolDefinition.parse(each) for each in documents)


async def _from_server(
    session: Session, url: str, ca_file: Path | None, *, every: bool, unchecked: bool
) -> "tuple[ToolDefinition, ...]":
    """Definitions from a running server, whose tools are checked unless `unchecked`."""
    from nexus_tools.cli.tool.served_definitions import open_http, served_definitions
    from nexus_tools.cli.tool.validate import require_conforming

    async with open_http(ca_file) as http:
        with session.output.progress(f"reading definitions from {url}"):
            definitions = await served_definitions(http, url, every=every)
        for place in () if unchecked else definitions:
            await require_conforming(session, place, http)
    return tuple(definitions.values())
