"""The registry on chain as the catalogue of an MCP server."""

import re
import time
from typing import Any, Protocol

from nexus_tools.bridges.mcp import CataloguePage, Progress
from nexus_tools.cli.mcp.offers import Offer, Offers
from nexus_tools.errors import NotNowError, ValidationError
from nexus_tools.tool import Failure, Outcome, ToolDefinition, ToolFqn

# What one page reads at most: behind a filter that little passes, pages are short or empty.
_NAMES_AT_ONCE = 200
_NAMES_PER_PAGE = 2_000
_LIFETIME_S = 5.0
_MAX_PAGES_KEPT = 256
_CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)


class Calls(Protocol):
    """A way to call tools."""

    async def call(
        self, offer: Offer, ports: dict[str, Any], progress: Progress
    ) -> Outcome | Failure:
        """Invoke a tool once; the ports match its input schema."""
        ...


class RegistryCatalogue:
    """The tools on offer, in the order of their registration.

    A cursor is a place in the registry's list of names. Pages are kept for a few seconds, because
    clients ask for all of them again and again.
    """

    def __init__(self, offers: Offers, calls: Calls) -> None:
        self._offers = offers
        self._calls = calls
        self._pages: dict[tuple[int, int], tuple[float, CataloguePage]] = {}

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Up to `limit` definitions; only one without a next cursor is the last page."""
        key = (_place(cursor), limit)
        until, kept = self._pages.get(key, (0.0, None))
        if kept is not None and time.monotonic() < until:
            return kept
        page = await self._read(*key)
        if len(self._pages) >= _MAX_PAGES_KEPT:
            self._pages.clear()
        self._pages[key] = (time.monotonic() + _LIFETIME_S, page)
        return page

    async def find(self, fqn: ToolFqn) -> ToolDefinition | None:
        """The definition of a tool as it is on chain now; None if it is not on offer."""
        offer = await self._offers.find(fqn)
        return None if offer is None else offer.definition

    async def call(
        self, definition: ToolDefinition, ports: dict[str, Any], progress: Progress
    ) -> Outcome | Failure:
        """Call the tool as it is on chain now. Raises `tool_not_active` if it is not on offer."""
        offer = await self._offers.find(definition.fqn)
        if offer is None:
            raise NotNowError("tool_not_active", f"{definition.fqn} is not on offer any more")
        return await self._calls.call(offer, ports, progress)

    async def _read(self, start: int, limit: int) -> CataloguePage:
        state, owned = await self._offers.state(), await self._offers.owned()
        size = state.fqns.size
        end = min(start + _NAMES_PER_PAGE, size)
        found: list[Offer] = []
        for begin in range(start, end, _NAMES_AT_ONCE):
            stop = min(begin + _NAMES_AT_ONCE, end)
            found += await self._offers.between(state, begin, stop, owned)
            if len(found) > limit:
                return _page(found[:limit], found[limit].place)
        return _page(found, end if end < size else None)


def _page(offers: list[Offer], following: int | None) -> CataloguePage:
    definitions = tuple(offer.definition for offer in offers)
    return CataloguePage(definitions, None if following is None else str(following))


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _CURSOR.fullmatch(cursor):
        raise ValidationError("cursor_invalid", "the cursor is none of this registry")
    return int(cursor)
