"""Pages of tools that indices propose for `tool list`."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nexus_tools.contracts import ToolState
from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.index import (
    OWN_FIRST,
    Index,
    IndexedTool,
    IndexedToolFilter,
    RemoteIndex,
    RemoteTool,
    ToolSort,
    describe_calls,
)
from nexus_tools.index.search import MAX_CANDIDATES
from nexus_tools.registry import ToolFilter
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

_PAGE_SIZE = 50
_MAX_REMOTE_PAGES = 2_000
"""The number of pages after which a remote index that always names a next page is left."""
_MAX_REASON = 300
_NONE_FITS = "no tool seems to fit: these are the closest ones"
SORTS = {
    "registered": ToolSort.NEWEST,
    "name": ToolSort.NAME,
    "price": ToolSort.PRICE,
    "reputation": ToolSort.REPUTATION,
    "volume": ToolSort.VOLUME,
}
"""The sort keys of the command that an index knows."""


@dataclass(frozen=True)
class Proposal:
    """A tool that an index proposes, with the reason for its place, and its record if sorted by it.

    `checkpoint` is that of its registration. The texts are untrusted.
    """

    fqn: str
    checkpoint: int
    reason: str = ""
    reputation: float | None = None
    volume_mist: int | None = None


@dataclass(frozen=True)
class Page:
    """Tools that match the filter, among a number of tools of the index."""

    proposals: Sequence[Proposal]
    scanned: int
    notes: Sequence[str] = ()
    has_more: bool = False


@dataclass(frozen=True)
class Request:
    """The tools that the command lists. The experience of `requesters` is the user's own."""

    tool_filter: ToolFilter
    sort: str | None
    requesters: Collection[Address] = field(default=())

    @property
    def order(self) -> ToolSort | None:
        """The order of the index, or None for its default order."""
        return SORTS.get(self.sort or "")

    @property
    def wanted(self) -> IndexedToolFilter:
        """The filter of the index, which may match more tools than the command lists."""
        domains = self.tool_filter.domains
        return IndexedToolFilter(
            domain=domains[0] if len(domains) == 1 else None,
            owner=self.tool_filter.owner,
            state=self.tool_filter.state,
        )

    def admits(self, fqn: str, _description: str = "") -> bool:
        """Return whether the name of a tool matches the filter."""
        parsed = parse_indexed(fqn)
        return parsed is not None and self.tool_filter.admits_name(parsed)

    def check_state(self) -> None:
        """Raise `index_unsuitable` if no index can search these tools."""
        tool_filter = self.tool_filter
        if tool_filter.search is not None and tool_filter.state not in (None, ToolState.ACTIVE):
            raise WrongStateError(
                "index_unsuitable",
                "the index searches only active tools",
                hint="Omit --search or --state to use the index.",
            )


def pages_of(index: Index, request: Request) -> Iterator[Page]:
    """Yield the tools of the local index. Raises the errors of `Index.search` and `Index.tools`."""
    if request.tool_filter.search is not None:
        return _search(index, request, request.tool_filter.search)
    if request.order in OWN_FIRST:
        return _own_first(index, request, request.order)
    return _list(index, request, request.order or ToolSort.NEWEST, {})


def _search(index: Index, request: Request, text: str) -> Iterator[Page]:
    after: str | None = None
    while True:
        results = index.search(
            text,
            request.wanted,
            limit=_PAGE_SIZE,
            after=after,
            sort=request.order,
            requesters=request.requesters,
            admits=request.admits,
        )
        proposals = [_proposal(item.tool, request, item.reason) for item in results.items]
        notes = [*results.notes]
        if results.items and not results.fits:
            notes.append(_NONE_FITS)
        if results.total >= MAX_CANDIDATES:
            notes.append(f"a search finds at most {MAX_CANDIDATES} tools: use more words")
        after = results.next
        yield Page(proposals, len(proposals), notes, has_more=after is not None)
        if after is None:
            return


def _own_first(index: Index, request: Request, order: ToolSort) -> Iterator[Page]:
    """Yield the tools that worked for the user, then all other tools, then those that failed."""
    first, last = index.own_tools(request.wanted, sort=order, requesters=request.requesters)
    own = {tool.fqn: tool for tool in (*first, *last)}
    if first:
        yield _page(first, request, has_more=True)
    for page in _list(index, request, order, own):
        yield Page(page.proposals, page.scanned, has_more=page.has_more or bool(last))
    if last:
        yield _page(last, request, has_more=False)


def _list(
    index: Index, request: Request, order: ToolSort, skipped: Mapping[str, IndexedTool]
) -> Iterator[Page]:
    after: str | None = None
    while True:
        page = index.tools(
            request.wanted,
            sort=order,
            limit=_PAGE_SIZE,
            after=after,
            requesters=request.requesters,
        )
        after = page.next
        items = [tool for tool in page.items if tool.fqn not in skipped]
        yield _page(items, request, has_more=after is not None)
        if after is None:
            return


def _page(tools: Sequence[IndexedTool], request: Request, *, has_more: bool) -> Page:
    proposals = [
        _proposal(tool, request, "" if request.order not in OWN_FIRST else describe_calls(tool))
        for tool in tools
        if request.admits(tool.fqn)
    ]
    return Page(proposals, len(tools), has_more=has_more)


def _proposal(tool: IndexedTool | RemoteTool, request: Request, reason: str) -> Proposal:
    if request.order not in OWN_FIRST:
        return Proposal(tool.fqn, tool.checkpoint, reason)
    return Proposal(tool.fqn, tool.checkpoint, reason, tool.reputation, tool.volume_mist)


async def remote_pages(index: RemoteIndex, request: Request) -> AsyncIterator[Page]:
    """Yield the tools of a remote index. Raises the errors of `RemoteIndex.tools`.

    A remote index never learns which accounts are the user's.
    """
    after: str | None = None
    for _ in range(_MAX_REMOTE_PAGES):
        page = await index.tools(
            request.tool_filter.search,
            request.wanted,
            request.order,
            limit=_PAGE_SIZE,
            after=after,
        )
        proposals = [
            _proposal(tool, request, one_line(tool.reason or "", _MAX_REASON))
            for tool in page.items[:_PAGE_SIZE]
            if request.admits(tool.fqn)
        ]
        notes = [] if page.fits or not page.items else [_NONE_FITS]
        after = page.next
        yield Page(proposals, _PAGE_SIZE, notes, has_more=after is not None)
        if after is None:
            return


def parse_indexed(fqn: str) -> ToolFqn | None:
    """Return a parsed FQN of an index, or None if a damaged index contains an invalid one."""
    try:
        return ToolFqn.parse(fqn)
    except ValidationError:
        return None
