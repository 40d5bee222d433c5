"""Tools for `tool list` from indices, each of which is read again from the chain."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nexus_tools.cli.framework import Session, plain
from nexus_tools.cli.tool.index_pages import Proposal, Request, parse_indexed
from nexus_tools.cli.tool.index_sources import Sources, open_sources
from nexus_tools.contracts import ToolState, tool_id
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NexusError
from nexus_tools.nexus import Nexus
from nexus_tools.registry import ToolFilter
from nexus_tools.sui.support import units

_MAX_SCANNED = 10_000
"""The number of tools in an index after which a list ends, even if it is not full."""


@dataclass
class Listing:
    """Tools in their current state on chain, with their proposals and the indices by FQN."""

    tools: list[Tool] = field(default_factory=list)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


async def list_from_index(
    session: Session, nexus: Nexus, request: Request, limit: int | None, urls: Sequence[str]
) -> Listing | NexusError:
    """Return at most `limit` tools, or the error why no index can be used.

    The indices only propose tools. Tools that the chain does not have in this state are omitted.
    """
    async with open_sources(session, nexus, request, urls) as sources:
        if not sources.items:
            return sources.errors[-1]
        listing = Listing()
        await _fill(nexus, sources, request, listing, limit)
        errors = [source.error for source in sources.items if source.error is not None]
        if len(errors) == len(sources.items):
            return errors[0]
        listing.notes = await _notes(sources, listing)
    return listing


async def _fill(
    nexus: Nexus, sources: Sources, request: Request, listing: Listing, limit: int | None
) -> None:
    scanned = proposed = 0
    has_more = True
    while limit is None or (len(listing.tools) < limit and scanned < _MAX_SCANNED):
        fqns = await sources.read()
        if fqns is None:
            has_more = False
            break
        listing.tools += await _current(nexus, request.tool_filter, fqns)
        scanned, proposed = max(source.scanned for source in sources.items), proposed + len(fqns)
        has_more = any(source.is_open for source in sources.items)
    omitted = proposed - len(listing.tools)
    if omitted:
        subject = units.count(omitted, "tool")
        sources.notes.append(f"omitted {subject} that changed on chain since")
    if limit is not None and (has_more or len(listing.tools) > limit):
        shown = units.count(min(limit, len(listing.tools)), "tool")
        sources.notes.append(f"listed {shown}. Use --all to list all")
    if limit is not None:
        del listing.tools[limit:]
    listing.proposals = {tool.fqn: sources.proposal(tool.fqn) for tool in listing.tools}
    listing.sources = {tool.fqn: sources.labels(tool.fqn) for tool in listing.tools}


async def _notes(sources: Sources, listing: Listing) -> list[str]:
    """Return the sources and what they lack."""
    used = [source for source in sources.items if source.error is None]
    notes = [f"source: {'; '.join(source.label for source in used)}"]
    notes += [
        note if len(used) == 1 else f"{source.label}: {note}"
        for source in used
        for note in source.notes
    ]
    errors = [source.error for source in sources.items if source.error is not None]
    notes += [plain(error.message) for error in (*sources.errors, *errors) if _is_noted(error)]
    if len(used) > 1:
        notes += await sources.find_hidden([*listing.proposals])
    return [*notes, *sources.notes]


def _is_noted(error: NexusError) -> bool:
    """Return whether users have to know that an index is not used."""
    return error.code != "index_missing"


async def _current(nexus: Nexus, tool_filter: ToolFilter, fqns: Sequence[str]) -> list[Tool]:
    """Return the tools with these FQNs in their current state, if they still match the filter."""
    parsed = [fqn for fqn in map(parse_indexed, fqns) if fqn is not None]
    if tool_filter.owner is not None:
        owners = await nexus.tools.owners(fqn.unversioned for fqn in parsed)
        parsed = [fqn for fqn in parsed if owners.get(fqn.unversioned) == tool_filter.owner]
    registry = nexus.deployment.tool_registry
    found = await nexus.tools.find_all([tool_id(registry, fqn) for fqn in parsed], Tool)
    is_search = tool_filter.search is not None
    state = ToolState.ACTIVE if is_search else tool_filter.state
    return [tool for tool in found if tool is not None and state in (None, tool.state)]
