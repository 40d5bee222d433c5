"""Tools for `tool list` from the local index, each of which is read again from the chain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nexus_tools.cli.framework import Session
from nexus_tools.contracts import ToolState, tool_id
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NexusError, ValidationError, WrongStateError
from nexus_tools.index import Index, IndexedToolFilter, ToolSort, check_freshness
from nexus_tools.index.search import MAX_CANDIDATES
from nexus_tools.nexus import Nexus
from nexus_tools.registry import ToolFilter
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolFqn

_PAGE_SIZE = 50
_MAX_SCANNED = 10_000
"""The number of tools in the index after which a list ends, even if it is not full."""
_SORTS = {"name": ToolSort.NAME, "price": ToolSort.PRICE}


@dataclass
class Listing:
    """Tools in their current state on chain, with the reasons for their places by FQN."""

    checkpoint: int
    tools: list[Tool] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Page:
    """FQNs that match the filter, among a number of tools of the index."""

    fqns: Sequence[str]
    scanned: int
    following: str | None


async def list_from_index(
    session: Session, nexus: Nexus, tool_filter: ToolFilter, sort: str | None, limit: int | None
) -> Listing | NexusError:
    """Return at most `limit` tools, or the error why the index cannot be used.

    The index only proposes tools. Tools that the chain does not have in this state are omitted.
    """
    try:
        index = nexus.index(intent_model=session.settings.intent_model)
    except NexusError as error:
        return error
    with index:
        try:
            _check_state(tool_filter)
            listing = Listing(await check_freshness(nexus.client, index))
        except WrongStateError as error:
            return error
        listing.notes += index.completeness_notes()
        read = _reader(session, index, tool_filter, sort, listing)
        after: str | None = None
        scanned = proposed = 0
        while limit is None or (len(listing.tools) < limit and scanned < _MAX_SCANNED):
            try:
                page = read(after)
            except NexusError as error:
                return error
            listing.tools += await _current(nexus, tool_filter, page.fqns)
            scanned, proposed = scanned + page.scanned, proposed + len(page.fqns)
            after = page.following
            if after is None:
                break
        _add_notes(listing, proposed, limit, has_more=after is not None)
    return listing


def _check_state(tool_filter: ToolFilter) -> None:
    if tool_filter.search is not None and tool_filter.state not in (None, ToolState.ACTIVE):
        raise WrongStateError(
            "index_unsuitable",
            "the index searches only active tools",
            hint="Omit --search or --state to use the index.",
        )


def _reader(
    session: Session, index: Index, tool_filter: ToolFilter, sort: str | None, listing: Listing
) -> Callable[[str | None], _Page]:
    """Return a function that reads a page of FQNs, and adds reasons and notes to the listing."""
    domains = tool_filter.domains
    wanted = IndexedToolFilter(
        domain=domains[0] if len(domains) == 1 else None,
        owner=tool_filter.owner,
        state=tool_filter.state,
    )
    order = _SORTS.get(sort or "")
    text = tool_filter.search

    def admits(fqn: str, _description: str = "") -> bool:
        parsed = _parsed(fqn)
        return parsed is not None and tool_filter.admits_name(parsed)

    def search(after: str | None) -> _Page:
        assert text is not None
        results = index.search(
            text,
            wanted,
            limit=_PAGE_SIZE,
            after=after,
            sort=ToolSort.NEWEST if sort == "registered" else order,
            requesters=session.trusted_requesters(),
            admits=admits,
        )
        listing.reasons |= {item.tool.fqn: item.reason for item in results.items}
        notes = [*results.notes]
        if results.items and not results.fits:
            notes.append("no tool seems to fit: these are the closest ones")
        if results.total >= MAX_CANDIDATES:
            notes.append(f"a search finds at most {MAX_CANDIDATES} tools: use more words")
        listing.notes += [note for note in notes if note not in listing.notes]
        fqns = [item.tool.fqn for item in results.items]
        return _Page(fqns, len(fqns), results.next)

    def list_all(after: str | None) -> _Page:
        page = index.tools(wanted, sort=order or ToolSort.NEWEST, limit=_PAGE_SIZE, after=after)
        fqns = [item.fqn for item in page.items if admits(item.fqn)]
        return _Page(fqns, len(page.items), page.next)

    return list_all if text is None else search


async def _current(nexus: Nexus, tool_filter: ToolFilter, fqns: Sequence[str]) -> list[Tool]:
    """Return the tools with these FQNs in their current state, if they still match the filter."""
    parsed = [fqn for fqn in map(_parsed, fqns) if fqn is not None]
    if tool_filter.owner is not None:
        owners = await nexus.tools.owners(fqn.unversioned for fqn in parsed)
        parsed = [fqn for fqn in parsed if owners.get(fqn.unversioned) == tool_filter.owner]
    registry = nexus.deployment.tool_registry
    found = await nexus.tools.find_all([tool_id(registry, fqn) for fqn in parsed], Tool)
    is_search = tool_filter.search is not None
    state = ToolState.ACTIVE if is_search else tool_filter.state
    return [tool for tool in found if tool is not None and state in (None, tool.state)]


def _add_notes(listing: Listing, proposed: int, limit: int | None, *, has_more: bool) -> None:
    omitted = proposed - len(listing.tools)
    if omitted:
        subject = units.count(omitted, "tool")
        listing.notes.append(f"omitted {subject} that changed on chain since")
    if limit is not None and (has_more or len(listing.tools) > limit):
        shown = units.count(min(limit, len(listing.tools)), "tool")
        listing.notes.append(f"listed {shown}. Use --all to list all")
    if limit is not None:
        del listing.tools[limit:]


def _parsed(fqn: str) -> ToolFqn | None:
    """Return a parsed FQN of the index, or None if a damaged index contains an invalid one."""
    try:
        return ToolFqn.parse(fqn)
    except ValidationError:
        return None
