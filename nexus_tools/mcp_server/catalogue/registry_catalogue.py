"""The catalogue of the on-chain registry for an MCP server, with calls of its tools."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.contracts import tool_id
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolRegistry as RegistryState
from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.export import Exportable
from nexus_tools.leader import FoundTool
from nexus_tools.mcp_server.catalogue.catalogue import (
    CataloguePage,
    PageCache,
    Progress,
    position_of,
)
from nexus_tools.mcp_server.catalogue.changed_tools import ChangedTools
from nexus_tools.mcp_server.catalogue.checked_schemas import CheckedSchemas
from nexus_tools.mcp_server.catalogue.index_proposals import IndexProposals
from nexus_tools.mcp_server.catalogue.listed_prices import ListedPrices
from nexus_tools.mcp_server.catalogue.remote_proposals import MergedProposals
from nexus_tools.mcp_server.catalogue.sources import Changes, Names, Proposal
from nexus_tools.mcp_server.catalogue.untrusted import skip_on_error
from nexus_tools.registry import ToolFilter, ToolRegistry
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object
from nexus_tools.tool import Outcome, ToolDefinition, ToolFqn, ToolType

_log = get_logger("nexus_tools.mcp_server.catalogue.registry_catalogue")

# Limits for the reads of one page. With a selective filter, pages are short or empty.
_MIN_NAMES_AT_ONCE = 50
_NAMES_PER_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool with its current on-chain state and a validated definition."""

    found: FoundTool
    definition: ToolDefinition

    @property
    def place(self) -> int:
        """The tool's position in the registry's list of names."""
        return self.found.tool.index


class ToolOffers:
    """The tools that are active, off-chain, valid, and pass the filter.

    `max_price_mist` is the maximum price of an invocation in MIST.
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
        self._schemas = CheckedSchemas()

    async def state(self) -> RegistryState:
        """Return the registry object with its list of names."""
        return await self._registry.state()

    def changed_tools(self) -> ChangedTools:
        """Return a reader of later changes."""
        return ChangedTools(self._registry, self._filter.owner)

    async def between(
        self, state: RegistryState, begin: int, end: int, *, check_schemas: bool = True
    ) -> list[ToolOffer]:
        """Return the offered tools among the registrations from `begin` to `end`, exclusive."""
        fqns = await self._registry.fqns(state, begin, end)
        return await self.find_all(fqns, check_schemas=check_schemas)

    async def names(self, begin: int, limit: int) -> Names:
        """Return the names of the registrations from `begin` on, without reading the tools."""
        state = await self._registry.state()
        end = min(begin + limit, state.fqns.size)
        fqns = await self._registry.fqns(state, begin, end)
        wanted = [fqn for fqn in fqns if self._filter.admits_name(fqn)]
        return Names(wanted, max(begin, end), is_end=end >= state.fqns.size)

    async def find(self, fqn: ToolFqn) -> ToolOffer | None:
        """Return the current tool, or None if it is not offered."""
        return next(iter(await self.find_all([fqn])), None)

    async def fqns(self, ids: Collection[Address]) -> list[ToolFqn]:
        """Return the FQNs of the tools among objects, which may also be leaders."""
        deployment = self._registry.deployment
        kind = deployment.type_of(Tool)
        values = await self._registry.client.objects([*ids])
        tools = [deployment.decode(value, Tool) for value in values if value and value.type == kind]
        return [ToolFqn.parse(tool.fqn) for tool in tools]

    async def find_all(
        self, fqns: Sequence[ToolFqn], *, check_schemas: bool = True
    ) -> list[ToolOffer]:
        """Return the tools that are offered, in the order of `fqns`.

        Checking the schemas of a tool for the first time takes most of the time.
        """
        registry = self._registry.deployment.tool_registry
        admitted_fqns = await admitted(self._registry, self._filter, fqns)
        values = await self._registry.client.objects(
            [tool_id(registry, fqn) for fqn in admitted_fqns]
        )
        offers = [
            self._offer(fqn, value, check_schemas=check_schemas)
            for fqn, value in zip(admitted_fqns, values, strict=True)
            if value
        ]
        return [offer for offer in offers if offer is not None]

    def _offer(self, fqn: ToolFqn, value: Object, *, check_schemas: bool) -> ToolOffer | None:
        with skip_on_error(fqn):
            found_tool = FoundTool(self._registry.deployment.decode(value, Tool), value.version)
            tool = found_tool.tool
            is_too_expensive = (
                self._max_price_mist is not None and tool.price_mist > self._max_price_mist
            )
            if is_too_expensive or not tool.is_active or not self._filter.admits(tool):
                return None
            definition = (
                self._schemas.parse(tool.definition)
                if check_schemas
                else tool.definition.parse(check_schemas=False)
            )
            return (
                ToolOffer(found_tool, definition) if definition.type is ToolType.OFFCHAIN else None
            )
        return None


async def admitted(
    registry: ToolRegistry, tool_filter: ToolFilter, fqns: Sequence[ToolFqn]
) -> list[ToolFqn]:
    """Return the FQNs whose name and owner pass the filter."""
    matching = [fqn for fqn in fqns if tool_filter.admits_name(fqn)]
    if tool_filter.owner is None:
        return matching
    owners = await registry.owners(fqn.unversioned for fqn in matching)
    return [fqn for fqn in matching if owners.get(fqn.unversioned) == tool_filter.owner]


class ToolCaller(Protocol):
    """The interface of classes that call tools."""

    async def call(self, offer: ToolOffer, ports: dict[str, Any], progress: Progress) -> Outcome:
        """Invoke a tool once. The ports match the tool's input schema."""
        ...


class RegistryCatalogue:
    """The offered tools in the order of their registration.

    A cursor is a position in the registry's list of names. If calls are paid, `prices` holds the
    prices that clients have seen. `proposals` reads an index of the registry, from which a page
    knows its tools without reading others.
    """

    def __init__(
        self,
        offers: ToolOffers,
        calls: ToolCaller,
        prices: ListedPrices | None = None,
        proposals: IndexProposals | MergedProposals | None = None,
    ) -> None:
        self._offers = offers
        self._calls = calls
        self._prices = prices
        self._proposals = proposals
        self._pages = PageCache(self._read)
        self._changed = offers.changed_tools()
        self._problem = ""

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return at most `limit` definitions. The last page has no next cursor."""
        return await self._pages.page(cursor, limit)

    async def find(self, fqn: ToolFqn) -> ToolDefinition | None:
        """Return the current on-chain definition of a tool, or None if it is not offered."""
        offer = await self._offers.find(fqn)
        return None if offer is None else offer.definition

    async def call(
        self, definition: Exportable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Call the tool in its current on-chain state.

        Raises:
            WrongStateError: with code `tool_not_active` if it is not offered, or `price_increased`.
        """
        offer = await self._offers.find(definition.fqn)
        if offer is None:
            raise WrongStateError("tool_not_active", f"{definition.fqn} is no longer available")
        if self._prices is not None:
            self._prices.check(definition.fqn, offer.found.tool.price_mist)
        return await self._calls.call(offer, ports, progress)

    async def scan(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return a page as `page` does, but do not check the schemas."""
        if cursor is None:
            await self._changed.reset()
        return await self._read_page(position_of(cursor), limit, check_schemas=False)

    async def changes(self) -> Changes | None:
        """Return the changes since the last call or scan, or None if they are not known."""
        ids = await self._changed.read()
        if ids is None:
            return None
        fqns = await self._offers.fqns(ids)
        page = _page(await self._offers.find_all(fqns, check_schemas=False), None)
        self._changed.advance()
        offered = {definition.fqn for definition in page.definitions}
        return Changes(page, tuple(fqn for fqn in fqns if fqn not in offered))

    async def propose(self, query: str, limit: int, offset: int) -> Proposal | None:
        """Return tools from the index. Raises the errors of `IndexProposals.propose`."""
        if self._proposals is None:
            return None
        try:
            proposal = await self._proposals.propose(query, limit, offset)
        except NexusError as error:
            self._report(error, _log.warning)
            raise
        self._problem = ""
        return proposal

    async def find_all(self, fqns: Sequence[ToolFqn]) -> CataloguePage:
        """Return the current, checked definitions of the tools that are offered."""
        return self._listed(_page(await self._offers.find_all(fqns), None))

    async def _read(self, start: int, limit: int) -> CataloguePage:
        return self._listed(await self._read_page(start, limit))

    def _listed(self, page: CataloguePage) -> CataloguePage:
        """Record the prices of a page that clients see."""
        if self._prices is not None:
            self._prices.record(page.prices_mist)
        return page

    async def names_from(self, position: int, limit: int) -> Names | None:
        """Return names from the index, followed by the newest names of the registry."""
        names = await self._from_index(position, limit)
        if names is None or not names.is_end:
            return names
        newest = await self._offers.names(names.next, _NAMES_PER_PAGE)
        return Names([*names.fqns, *newest.fqns], newest.next, newest.is_end)

    async def _from_index(self, position: int, limit: int) -> Names | None:
        """Return probably offered tools, or None if no index can be used."""
        if self._proposals is None:
            return None
        try:
            return await self._proposals.registered(position, limit)
        except NexusError as error:
            self._report(error, _log.info)
            return None

    def _report(self, error: NexusError, log: Callable[..., None]) -> None:
        """Log why the index is not used, once for each reason."""
        if error.code != self._problem:
            self._problem = error.code
            log("index_not_used", code=error.code, error=error.message, hint=error.hint)

    async def _read_page(
        self, start: int, limit: int, *, check_schemas: bool = True
    ) -> CataloguePage:
        """Read the tools of a page. Their positions come from the index, if it can be used."""
        offers: list[ToolOffer] = []
        position = start
        names = await self._from_index(position, limit)
        proposed = 0
        while names is not None:
            offers += await self._offers.find_all(names.fqns, check_schemas=check_schemas)
            position, proposed = names.next, proposed + len(names.fqns)
            if names.is_end:
                break
            if len(offers) >= limit or proposed >= _NAMES_PER_PAGE:
                return _page(offers, position)
            names = await self._from_index(position, limit - len(offers))
        return await self._read_registrations(position, limit, offers, check_schemas=check_schemas)

    async def _read_registrations(
        self, start: int, limit: int, offers: list[ToolOffer], *, check_schemas: bool
    ) -> CataloguePage:
        """Read as many registrations as the page needs. Usually, all of them are offered."""
        state = await self._offers.state()
        size = state.fqns.size
        end = min(start + _NAMES_PER_PAGE, size)
        position = start
        while position < end and len(offers) < limit:
            batch_end = min(position + max(limit - len(offers), _MIN_NAMES_AT_ONCE), end)
            offers += await self._offers.between(
                state, position, batch_end, check_schemas=check_schemas
            )
            position = batch_end
        if len(offers) > limit:
            return _page(offers[:limit], offers[limit].place)
        return _page(offers, position if position < size else None)


def _page(offers: list[ToolOffer], next_position: int | None) -> CataloguePage:
    definitions = tuple(offer.definition for offer in offers)
    prices_mist = {offer.definition.fqn: offer.found.tool.price_mist for offer in offers}
    return CataloguePage(
        definitions, None if next_position is None else str(next_position), prices_mist
    )
