"""`nexus-tools tool list`: the registered tools; `record.py` says which columns they have."""

from typing import Any

import click

from nexus_tools.cli.framework import Choice, Selection, Session, reads, selects

_STATES = Choice(["active", "suspended", "unregistered", "claimed"])
_SORTS = {
    "registered": "registered_at_ms",
    "name": "fqn",
    "price": "price_mist",
    "collateral": "collateral_mist",
    "state": "state",
}
_NONE = "no tool is registered yet: `nexus-tools tool register --url URL` registers a running one"
_NONE_FITS = "no registered tool fits: `nexus-tools tool list` alone shows all of them"


@click.command()
@selects
@click.option("--state", type=_STATES, help="Only tools in this state.")
@click.option(
    "--sort",
    type=Choice(list(_SORTS)),
    default="registered",
    show_default=True,
    help="By what to sort.",
)
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@reads
async def command(
    session: Session,
    *,
    selection: Selection,
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
    from nexus_tools.cli.tool.record import for_people

    return for_people(document) | {
        "leaders": "any" if document["open"] else len(document["leaders"])
    }
