"""The registry on chain as the catalogue of an MCP server: which tools are on offer, and calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.contracts import tool_id
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry as RegistryState
from nexus_tools.errors import NotNowError
from nexus_tools.export import Lendable
from nexus_tools.leader import FoundTool, Interface, Interfaces
from nexus_tools.mcp_server.catalogue.catalogue import CataloguePage, KeptPages, Progress
from nexus_tools.mcp_server.catalogue.listed_prices import ListedPrices
from nexus_tools.mcp_server.catalogue.untrusted import leaves_out
from nexus_tools.registry import ToolFilter, ToolRegistry
from nexus_tools.sui.types.object import Object
from nexus_tools.tool import Outcome, ToolDefinition, ToolFqn, ToolType

_INTERFACES_KEPT = 4_096


# What one page reads at most: behind a filter that little passes, pages are short or empty.
_NAMES_AT_ONCE = 200
_NAMES_PER_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it stands on chain, with its definition checked and its schemas compiled."""

    found: FoundTool
    interface: Interface

    @property
    def definition(self) -> ToolDefinition:
        """What it is."""
        return self.interface.definition

    @property
    def place(self) -> int:
        """Its place in the registry's list."""
        return self.found.tool.index


class Offers:
    """The tools that are active, reached by HTTP, well-defined, and let pass by the filter.

    `max_price_mist` is what an invocation of one may cost at most.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        *,
        max_price_mist: int | None = None,
    ) -> None:
        self._registry = registry
        self._filter = tool_filter
        self._max_price_mist = max_price_mist
        self._interfaces = Interfaces(_INTERFACES_KEPT)

    async def state(self) -> RegistryState:
        """The registry itself, with the list of names."""
        return await self._registry.state()

    async def between(self, state: RegistryState, begin: int, end: int) -> list[Offer]:
        """What is on offer of the registrations from `begin` up to `end`, which is excluded."""
        return await self._read(await self._registry.fqns(state, begin, end))

    async def find(self, fqn: ToolFqn) -> Offer | None:
        """The tool as it is now, or None if it is not on offer."""
        return next(iter(await self._read([fqn])), None)

    async def _read(self, fqns: Sequence[ToolFqn]) -> list[Offer]:
        registry = self._registry.deployment.tool_registry
        named = await admitted(self._registry, self._filter, fqns)
        values = await self._registry.client.objects([tool_id(registry, fqn) for fqn in named])
        offers = [
            self._offer(fqn, value) for fqn, value in zip(named, values, strict=True) if value
        ]
        return [offer for offer in offers if offer is not None]

    def _offer(self, fqn: ToolFqn, value: Object | None) -> Offer | None:
        if value is None:
            return None
        with leaves_out(fqn):
            found = FoundTool(self._registry.deployment.decode(value, Tool), value.version)
            tool = found.tool
            is_dear = self._max_price_mist is not None and tool.price_mist > self._max_price_mist
            if is_dear or not tool.is_active or not self._filter.admits(tool):
                return None
            offer = Offer(found, self._interfaces.of(found))
            return offer if offer.definition.type is ToolType.OFFCHAIN else None
        return None


async def admitted(
    registry: ToolRegistry, tool_filter: ToolFilter, fqns: Sequence[ToolFqn]
) -> list[ToolFqn]:
    """Those that pass by their name and its owner."""
    named = [fqn for fqn in fqns if tool_filter.admits_name(fqn)]
    if tool_filter.owner is None:
        return named
    owners = await registry.owners(fqn.unversioned for fqn in named)
    return [fqn for fqn in named if owners.get(fqn.unversioned) == tool_filter.owner]


class Calls(Protocol):
    """A way to call tools."""

    async def call(self, offer: Offer, ports: dict[str, Any], progress: Progress) -> Outcome:
        """Invoke a tool once; the ports match its input schema."""
        ...


class RegistryCatalogue:
    """The tools on offer, in the order of their registration.

    A cursor is a place in the registry's list of names. Where calls are paid, `prices` are those
    that clients know.
    """

    def __init__(self, offers: Offers, calls: Calls, prices: ListedPrices | None = None) -> None:
        self._offers = offers
        self._calls = calls
        self._prices = prices
        self._pages = KeptPages(self._read)

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Up to `limit` definitions; only one without a next cursor is the last page."""
        return await self._pages.page(cursor, limit)

    async def find(self, fqn: ToolFqn) -> ToolDefinition | None:
        """The definition of a tool as it is on chain now; None if it is not on offer."""
        offer = await self._offers.find(fqn)
        return None if offer is None else offer.definition

    async def call(
        self, definition: Lendable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Call the tool as it is on chain now.

        Raises `tool_not_active` if it is not on offer, and `price_raised`.
        """
        offer = await self._offers.find(definition.fqn)
        if offer is None:
            raise NotNowError("tool_not_active", f"{definition.fqn} is not on offer any more")
        if self._prices is not None:
            self._prices.check(definition.fqn, offer.found.tool.price_mist)
        return await self._calls.call(offer, ports, progress)

    async def _read(self, start: int, limit: int) -> CataloguePage:
        page = await self._read_page(start, limit)
        if self._prices is not None:
            self._prices.tell(page.prices_mist)
        return page

    async def _read_page(self, start: int, limit: int) -> CataloguePage:
        state = await self._offers.state()
        size = state.fqns.size
        end = min(start + _NAMES_PER_PAGE, size)
        found: list[Offer] = []
        for begin in range(start, end, _NAMES_AT_ONCE):
            stop = min(begin + _NAMES_AT_ONCE, end)
            found += await self._offers.between(state, begin, stop)
            if len(found) > limit:
                return _page(found[:limit], found[limit].place)
        return _page(found, end if end < size else None)


def _page(offers: list[Offer], following: int | None) -> CataloguePage:
    definitions = tuple(offer.definition for offer in offers)
    prices_mist = {offer.definition.fqn: offer.found.tool.price_mist for offer in offers}
    return CataloguePage(definitions, None if following is None else str(following), prices_mist)
