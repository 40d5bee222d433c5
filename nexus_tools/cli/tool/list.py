"""The command `nexus-tools tool list`, with columns from `record.py`."""

from typing import Any

import click

from nexus_tools.cli.framework import (
    Choice,
    Session,
    ToolSelection,
    network_command,
    registry_filter_options,
)

_STATES = Choice(["active", "suspended", "unregistered", "claimed"])
_SORTS = {
    "registered": "registered_at_ms",
    "name": "fqn",
    "price": "price_mist",
    "collateral": "collateral_mist",
    "state": "state",
}
_NONE = "no tools yet. Run `nexus-tools tool register --url URL` to register a running tool"
_NONE_FITS = "no matching tools. Run `nexus-tools tool list` without options to list all tools"


@click.command()
@registry_filter_options
@click.option("--state", type=_STATES, help="Include only tools in this state.")
@click.option(
    "--sort",
    type=Choice(list(_SORTS)),
    default="registered",
    show_default=True,
    help="Sort key.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number of tools to list.")
@network_command
async def command(
    session: Session,
    *,
    selection: ToolSelection,
    state: str | None,
    sort: str,
    limit: int | None,
    reverse: bool,
) -> None:
    """List the registered tools."""
    from nexus_tools.cli.tool.record import COLUMNS, tool_documents
    from nexus_tools.contracts import ToolState

    tool_filter = selection.tool_filter(session, None if state is None else ToolState(state))
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            found = await nexus.tools.list(tool_filter)
            documents = await tool_documents(nexus.tools, found)
    documents.sort(key=lambda document: document[_SORTS[sort]], reverse=reverse)
    documents = documents[:limit]
    rows: list[dict[str, Any]] = documents
    if not session.output.as_json:
        rows = [_row(document) for document in documents]
    session.output.table(rows, COLUMNS, empty=_NONE_FITS if selection or state else _NONE)


def _row(document: dict[str, Any]) -> dict[str, Any]:
    from nexus_tools.cli.tool.record import tool_in_words

    return tool_in_words(document) | {
        "leaders": "any" if document["open"] else len(document["leaders"])
    }
