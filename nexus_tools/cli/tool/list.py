"""The command `nexus-tools tool list`, with columns from `record.py`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Choice,
    Session,
    ToolSelection,
    network_command,
    registry_filter_options,
)
from nexus_tools.cli.shared.pages import page_options

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import ToolFilter, ToolPage

_STATES = Choice(["active", "suspended", "unregistered", "claimed"])
_SORTS = {
    "name": "fqn",
    "price": "price_mist",
    "collateral": "collateral_mist",
    "state": "state",
}
_NONE = "no tools yet. Run `nexus-tools tool register --url URL` to register a running tool"
_NONE_FITS = "no matching tools. Run `nexus-tools tool list` to list the newest tools"


@click.command()
@registry_filter_options
@click.option("--state", type=_STATES, help="Include only tools in this state.")
@click.option(
    "--sort",
    type=Choice(["registered", *_SORTS]),
    help="Sort key of the listed tools. With 'registered', the newest tool is first. Default:"
    " registered, or the best match if --search uses the index.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order of the listed tools.")
@click.option("--no-index", is_flag=True, help="Read only the chain, even if an index is current.")
@page_options("tools")
@network_command
async def command(
    session: Session,
    *,
    selection: ToolSelection,
    state: str | None,
    sort: str | None,
    reverse: bool,
    no_index: bool,
    limit: int,
    everything: bool,
) -> None:
    """List the newest registered tools.

    If `nexus-tools index run` keeps an index current, the command uses it to select and sort all
    tools of the registry. In this case, --search finds words, and tools that worked for you come
    first. The command reads the listed tools from the chain, so their names, prices and states are
    current.

    Without an index, options that select tools check the newest 2,000 registrations, and --search
    finds a text. With --owner, the command reads the owner's newest events instead. Use --all to
    check all registrations.
    """
    from nexus_tools.cli.tool.record import COLUMNS, tool_documents
    from nexus_tools.contracts import ToolState

    tool_filter = selection.tool_filter(session, None if state is None else ToolState(state))
    is_selected = bool(selection or state)
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading the registry"):
            found = await _find(
                session,
                nexus,
                tool_filter,
                sort,
                None if everything else limit,
                uses_index=not no_index,
                is_quiet=not (is_selected or sort),
            )
            documents = await tool_documents(nexus.tools, found.tools)
    for document in documents:
        document["source"] = found.source
        if document["fqn"] in found.reasons:
            document["reason"] = found.reasons[document["fqn"]]
    if sort in _SORTS:
        documents.sort(key=lambda document: document[_SORTS[sort]])
    if reverse:
        documents.reverse()
    columns = COLUMNS | ({"reason": "Reason"} if found.reasons else {})
    rows: list[dict[str, Any]] = documents
    if not session.output.as_json:
        rows = [_row(document) for document in documents]
    session.output.table(rows, columns, empty=_NONE_FITS if is_selected else _NONE)
    for note in found.notes:
        session.output.note(note)


@dataclass
class _Found:
    """Tools with their current state, and where they were found."""

    tools: "list[Tool]"
    source: str
    notes: list[str]
    reasons: dict[str, str] = field(default_factory=dict)


async def _find(
    session: Session,
    nexus: "Nexus",
    tool_filter: "ToolFilter",
    sort: str | None,
    limit: int | None,
    *,
    uses_index: bool,
    is_quiet: bool,
) -> _Found:
    """Return tools from the index, or from the chain. `is_quiet` hides that no index exists."""
    notes: list[str] = []
    if uses_index:
        from nexus_tools.cli.tool.index_listing import Listing, list_from_index

        listing = await list_from_index(session, nexus, tool_filter, sort, limit)
        if isinstance(listing, Listing):
            source = f"index, checkpoint {listing.checkpoint}"
            notes = [f"source: {source}", *listing.notes]
            return _Found(listing.tools, source, notes, listing.reasons)
        if not (is_quiet and listing.code == "index_missing"):
            notes.append(f"source: chain, because {listing.message}. {listing.hint}")
    tools, note = await _read(nexus, tool_filter, limit)
    return _Found(tools, "chain", [*filter(None, [note]), *notes])


async def _read(
    nexus: "Nexus", tool_filter: "ToolFilter", limit: int | None
) -> tuple[list["Tool"], str | None]:
    """Return the newest matching tools, or all of them, and a note if there may be more."""
    if limit is None:
        return [tool async for tool in nexus.tools.iterate(tool_filter)][::-1], None
    page = await nexus.tools.list(tool_filter, limit=limit)
    return [*page.items], _note(tool_filter, page)


def _note(tool_filter: "ToolFilter", page: "ToolPage") -> str | None:
    """Return which registrations a page results from, or None if it contains all matches."""
    from nexus_tools.registry import ToolFilter

    if page.next is None:
        incomplete = "the node does not have all events of the owner. Use --all to check all tools"
        return None if page.is_complete else incomplete
    if tool_filter == ToolFilter():
        return f"listed the newest {page.scanned} of {page.total} tools. Use --all to list all"
    whose = "the owner's " if tool_filter.owner is not None else ""
    return f"checked the newest {page.scanned} of {whose}{page.total} tools. Use --all to check all"


def _row(document: dict[str, Any]) -> dict[str, Any]:
    from nexus_tools.cli.tool.record import tool_in_words

    return tool_in_words(document) | {
        "leaders": "any" if document["open"] else len(document["leaders"])
    }
