"""The list of tools, with search and filters."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from nexus_tools.contracts import ToolState
from nexus_tools.errors import NexusError
from nexus_tools.explorer.context import Page, PageContext, Pager, url_with
from nexus_tools.explorer.formatting import parse_max_price
from nexus_tools.index import IndexedTool, IndexedToolFilter, ToolSort
from nexus_tools.index.api import PageParameters
from nexus_tools.sui.types.address import Address

_LIMIT = 30
_WORKING_HOURS = 24


class _Kind(StrEnum):
    OFFCHAIN = "offchain"
    ONCHAIN = "onchain"


class ToolListParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list. `max_price` is an amount in SUI."""

    limit: Annotated[int, Meta(ge=1, le=100)] = _LIMIT
    q: Annotated[str, Meta(max_length=200)] | None = None
    domain: Annotated[str, Meta(max_length=253)] | None = None
    owner: Address | None = None
    state: ToolState | None = None
    kind: _Kind | None = None
    max_price: Annotated[str, Meta(max_length=40)] | None = None
    sort: ToolSort | None = None


class Row:
    """A row of the list: a tool, and the reason why it matches a search, or None."""

    def __init__(self, tool: IndexedTool, reason: str | None = None) -> None:
        self.tool = tool
        self.reason = reason


async def list_tools(context: PageContext) -> Page:
    """Show the tools that match the words and filters of the query."""
    parameters = context.parameters(ToolListParameters)
    pager = context.pager("tools", parameters)
    rows, position, notes, fits = _find(context, parameters, pager)
    fields = asdict(parameters) | {"after": None, "limit": None}
    values = {
        "rows": rows,
        "links": pager.links(position),
        "notes": notes,
        "fits": fits,
        "parameters": parameters,
        "filters": [name for name in fields if name not in ("q", "sort") and fields[name]],
        "sorts": list(ToolSort),
        "states": list(ToolState),
        "kinds": list(_Kind),
        "without_filters": url_with("/tools", {"q": parameters.q, "sort": parameters.sort}),
        "is_filtered": any(value is not None for value in fields.values()),
    }
    title = f"Tools matching {parameters.q}" if parameters.q else "Tools"
    return Page("tools.html", title, values)


def _find(
    context: PageContext, parameters: ToolListParameters, pager: Pager
) -> tuple[list[Row], str | None, tuple[str, ...], bool]:
    """Return the rows of a page, the position of the next page, notes, and whether they fit."""
    tool_filter = IndexedToolFilter(
        domain=parameters.domain,
        owner=parameters.owner,
        state=parameters.state,
        max_price_mist=parse_max_price(parameters.max_price),
        tool_type=parameters.kind,
    )
    if not parameters.q:
        sort = parameters.sort or ToolSort.NEWEST
        page = context.index.tools(
            tool_filter, sort=sort, limit=parameters.limit, after=pager.after
        )
        return [Row(tool) for tool in page.items], page.next, (), True
    try:
        found = context.index.search(
            parameters.q,
            tool_filter,
            limit=parameters.limit,
            after=pager.after,
            sort=parameters.sort,
        )
    except NexusError as error:
        if not error.code.startswith("text_index"):
            raise
        return [], None, ("The search is being built. Reload the page in a few seconds.",), True
    rows = [Row(item.tool, item.reason) for item in found.items]
    return rows, found.next, found.notes, found.fits
