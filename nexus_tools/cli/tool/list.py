"""The command `nexus-tools tool list`, with columns from `record.py`."""

from collections.abc import Mapping, Sequence
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
from nexus_tools.cli.shared.index_urls import INDEX_URL_OPTION, selected_index_urls
from nexus_tools.cli.shared.pages import page_options
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.cli.tool.index_pages import Proposal
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
_INDEX_SORTS = {"reputation": "Reputation", "volume": "Volume"}
"""The sort keys that only an index has, with the headings of their columns."""
_NONE = "no tools yet. Run `nexus-tools tool register --url URL` to register a running tool"
_NONE_FITS = "no matching tools. Run `nexus-tools tool list` to list the newest tools"


@click.command()
@registry_filter_options
@click.option("--state", type=_STATES, help="Include only tools in this state.")
@click.option(
    "--sort",
    type=Choice(["registered", *_SORTS, *_INDEX_SORTS]),
    help="Sort key of the listed tools. With 'registered', the newest tool is first. 'reputation'"
    " and 'volume' need an index, and your own calls decide first. Default: registered, or the best"
    " match if --search uses the index.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order of the listed tools.")
@INDEX_URL_OPTION
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
    index_urls: tuple[str, ...],
    no_index: bool,
    limit: int,
    everything: bool,
) -> None:
    """List the newest registered tools.

    If `nexus-tools index run` keeps an index current, the command uses it to select and sort all
    tools of the registry. In this case, --search finds words, and tools that worked for you come
    first. The command reads the listed tools from the chain, so their names, prices and states are
    current.

    Remote indices propose tools in the same way. A remote index learns the words of a search. The
    command merges the proposals of all indices, so that one index cannot hide a tool. It ignores
    indices that are more than one minute behind the chain.

    With `--sort reputation`, tools that worked for you come first, and tools that failed for you
    come last. Then the reputation among all accounts decides. With `--sort volume`, the amount that
    you paid decides before the amount that all accounts paid in 30 days. Anyone can buy a good
    record among all accounts for the fees.

    Without an index, options that select tools check the newest 2,000 registrations, and --search
    finds a text. With --owner, the command reads the owner's newest events instead. Use --all to
    check all registrations.
    """
    from nexus_tools.cli.tool.record import tool_documents
    from nexus_tools.contracts import ToolState

    _check_sort(sort, no_index=no_index)
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
                urls=None if no_index else selected_index_urls(session, index_urls),
                is_quiet=not (is_selected or sort),
            )
            documents = await tool_documents(nexus.tools, found.tools)
    if sort in _SORTS:
        documents.sort(key=lambda document: document[_SORTS[sort]])
    if reverse:
        documents.reverse()
    _show(session, documents, found, sort, empty=_NONE_FITS if is_selected else _NONE)


def _check_sort(sort: str | None, *, no_index: bool) -> None:
    """Raise `option_not_applicable` for a sort key of the index without an index."""
    if sort in _INDEX_SORTS and no_index:
        raise UsageError(
            "option_not_applicable",
            f"--sort {sort} needs an index, but --no-index reads only the chain",
            hint="Omit --no-index, or use another sort key.",
        )


def _show(
    session: Session,
    documents: list[dict[str, Any]],
    found: "_Found",
    sort: str | None,
    *,
    empty: str,
) -> None:
    """Print the tools with the facts of the indices, and then the notes."""
    from nexus_tools.cli.tool.record import COLUMNS

    for document in documents:
        document.update(found.facts[document["fqn"]])
    columns = COLUMNS | {key: name for key, name in _INDEX_SORTS.items() if key == sort}
    if any("reason" in facts for facts in found.facts.values()):
        columns |= {"reason": "Reason"}
    rows = documents if session.output.as_json else list(map(_row, documents))
    session.output.table(rows, columns, empty=empty)
    for note in found.notes:
        session.output.note(note)


@dataclass
class _Found:
    """Tools with their current state, and where they were found.

    `facts` has the source of a tool, the reason for its place, and its record, by FQN.
    """

    tools: "list[Tool]"
    notes: list[str]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


async def _find(
    session: Session,
    nexus: "Nexus",
    tool_filter: "ToolFilter",
    sort: str | None,
    limit: int | None,
    *,
    urls: Sequence[str] | None,
    is_quiet: bool,
) -> _Found:
    """Return tools from indices, or from the chain.

    `urls` are those of remote indices, or None to read only the chain. `is_quiet` hides that no
    index exists. Raises the error of the index if the sort key needs it.
    """
    notes: list[str] = []
    if urls is not None:
        from nexus_tools.cli.tool.index_listing import Listing, list_from_index
        from nexus_tools.cli.tool.index_pages import Request

        request = Request(tool_filter, sort, session.trusted_requesters())
        listing = await list_from_index(session, nexus, request, limit, urls)
        if isinstance(listing, Listing):
            facts = {
                fqn: {"source": listing.sources[fqn], **_facts(item)}
                for fqn, item in listing.proposals.items()
            }
            return _Found(listing.tools, listing.notes, facts)
        if sort in _INDEX_SORTS:
            raise listing
        if not (is_quiet and listing.code == "index_missing"):
            notes.append(f"source: chain, because {listing.message}. {listing.hint}")
    tools, note = await _read(nexus, tool_filter, limit)
    facts = {tool.fqn: {"source": "chain"} for tool in tools}
    return _Found(tools, [*filter(None, [note]), *notes], facts)


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


def _facts(proposal: "Proposal") -> dict[str, Any]:
    """Return the facts of the index as JSON."""
    facts = {
        "reason": proposal.reason or None,
        "reputation": proposal.reputation,
        "volume_mist": proposal.volume_mist,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _row(document: dict[str, Any]) -> dict[str, Any]:
    from nexus_tools.cli.tool.record import tool_in_words

    row = tool_in_words(document)
    row["leaders"] = "any" if document["open"] else len(document["leaders"])
    if "reputation" in document:
        row["reputation"] = f"{document['reputation']:.2f}"
    return row
