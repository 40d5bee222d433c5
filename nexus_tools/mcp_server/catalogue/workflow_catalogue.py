"""Published workflows as the catalogue of an MCP server: which are on offer, and calls."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.errors import NotFoundError, NotNowError
from nexus_tools.export import Lendable
from nexus_tools.mcp_server.catalogue.catalogue import CataloguePage, KeptPages, Progress
from nexus_tools.mcp_server.catalogue.listed_prices import ListedPrices
from nexus_tools.mcp_server.catalogue.registry_catalogue import admitted
from nexus_tools.mcp_server.catalogue.untrusted import leaves_out
from nexus_tools.mcp_server.catalogue.workflow_definition import WorkflowDefinition
from nexus_tools.registry import (
    DEFAULT_STEPS,
    LeaderRegistry,
    PublishedWorkflow,
    ToolFilter,
    ToolRegistry,
    Workflows,
    execution_cost,
)
from nexus_tools.sui.client import WENT_BACK, Cursor, past_events
from nexus_tools.tool import Outcome, ToolFqn

_WORKFLOWS_KEPT = 1_024

# What one page reads at most: behind a filter that little passes, pages are short or empty.
_AT_ONCE = 20
_PER_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class WorkflowTerms:
    """How executions begin: how large an outcome may be at least, and how long they may last."""

    max_outcome_bytes: int
    lasts_ms: int


@dataclass(frozen=True, slots=True)
class WorkflowOffer:
    """A published workflow whose tools are all there; what is known of them is of just now.

    An execution begins with `funds_mist`, and an outcome may have `max_outcome_bytes`.
    """

    workflow: PublishedWorkflow
    definition: WorkflowDefinition
    funds_mist: int
    max_outcome_bytes: int


class WorkflowOffers:
    """The workflows that are what they say, have active tools, and are let pass by the filter.

    `max_price_mist` is with how much an execution of one may begin. What was published is read
    from the node's events, and does not change: so it is read once.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        tool_filter: ToolFilter,
        terms: WorkflowTerms,
        *,
        max_price_mist: int | None = None,
    ) -> None:
        self._registry = registry
        self._workflows = Workflows(registry.client, registry.deployment)
        self._leaders = LeaderRegistry(registry.client, registry.deployment)
        self._filter = tool_filter
        self._terms = terms
        self._max_price_mist = max_price_mist
        self._reading = asyncio.Lock()
        self._names: list[ToolFqn] = []
        self._read_to: Cursor | None = None
        self._kept: OrderedDict[ToolFqn, PublishedWorkflow | None] = OrderedDict()

    async def names(self) -> Sequence[ToolFqn]:
        """The FQNs of all that was published, in order."""
        async with self._reading:
            try:
                await self._read_names()
            except NotFoundError as error:
                if error.code != WENT_BACK:
                    raise
                self._names, self._read_to = [], None
                self._kept.clear()
                await self._read_names()
        return self._names

    async def among(self, fqns: Sequence[ToolFqn]) -> list[WorkflowOffer]:
        """What is on offer of these, in their order."""
        named = await admitted(self._registry, self._filter, fqns)
        found = await asyncio.gather(*map(self._workflow, named))
        workflows = [each for each in found if each is not None]
        if not workflows:
            return []
        ids = list(dict.fromkeys(tool for each in workflows for tool in each.tools))
        tools = dict(zip(ids, await self._registry.find_all(ids, Tool), strict=True))
        settings = await self._leaders.settings()
        gas_price = await self._registry.client.gas_price()
        offers = []
        for each in workflows:
            present = {
                fqn: tool
                for fqn, place in zip(each.fqns, each.tools, strict=True)
                if (tool := tools[place]) is not None and tool.is_active
            }
            if len(present) == len(each.fqns):
                with leaves_out(each.fqn):
                    offers.append(self._offer(each, present, settings, gas_price))
        return [each for each in offers if each is not None]

    async def find(self, fqn: ToolFqn) -> WorkflowOffer | None:
        """The workflow with its tools as they are now, or None if it is not on offer."""
        return next(iter(await self.among([fqn])), None)

    async def _read_names(self) -> None:
        kinds = event_filter(self._registry.deployment, DagPublished)
        async for record in past_events(self._registry.client, kinds, self._read_to):
            published = parse_event(self._registry.deployment, record.event)
            if isinstance(published, DagPublished):
                self._names.append(ToolFqn.parse(published.fqn))
            self._read_to = record.cursor

    async def _workflow(self, fqn: ToolFqn) -> PublishedWorkflow | None:
        """A workflow that passes by what it says of itself; None, too, for one that is none."""
        if fqn not in self._kept:
            found = None
            with leaves_out(fqn):
                found = await self._workflows.find(fqn)
                if found is None:
                    return None  # it may be published any time
            self._kept[fqn] = found
            if len(self._kept) > _WORKFLOWS_KEPT:
                self._kept.popitem(last=False)
        kept = self._kept[fqn]
        if kept is None or not self._filter.admits_text(str(fqn), kept.description):
            return None
        return kept

    def _offer(
        self,
        workflow: PublishedWorkflow,
        tools: Mapping[str, Tool],
        settings: LeaderSettings,
        gas_price: int,
    ) -> WorkflowOffer | None:
        sizes = [tool.min_outcome_bytes for tool in tools.values()]
        max_outcome_bytes = max([self._terms.max_outcome_bytes, *sizes])
        group = workflow.document.groups()[0].name  # with any, each vertex is in it
        cost = execution_cost(
            workflow,
            group,
            tools,
            settings,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=DEFAULT_STEPS,
            gas_price=gas_price,
        )
        if self._max_price_mist is not None and cost.usual_mist > self._max_price_mist:
            return None
        definition = WorkflowDefinition.of(
            workflow.fqn,
            workflow.description,
            workflow.document,
            {fqn: tool.definition.parse() for fqn, tool in tools.items()},
            lasts_ms=self._terms.lasts_ms,
        )
        return WorkflowOffer(workflow, definition, cost.usual_mist, max_outcome_bytes)


class WorkflowCalls(Protocol):
    """A way to call workflows."""

    async def call(
        self, offer: WorkflowOffer, arguments: Mapping[str, Any], progress: Progress
    ) -> Outcome:
        """Begin a workflow once, and give what it came to."""
        ...


class WorkflowCatalogue:
    """The workflows on offer, in the order of their publication; a cursor is a place in it."""

    def __init__(self, offers: WorkflowOffers, calls: WorkflowCalls) -> None:
        self._offers = offers
        self._calls = calls
        self._prices = ListedPrices()
        self._pages = KeptPages(self._read)

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Up to `limit` definitions; only one without a next cursor is the last page."""
        return await self._pages.page(cursor, limit)

    async def find(self, fqn: ToolFqn) -> WorkflowDefinition | None:
        """The workflow with its tools as they are on chain now; None if it is not on offer."""
        offer = await self._offers.find(fqn)
        return None if offer is None else offer.definition

    async def call(
        self, definition: Lendable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Begin the workflow, and follow it. Raises `workflow_not_offered` and `price_raised`."""
        offer = await self._offers.find(definition.fqn)
        if offer is None:
            message = f"{definition.fqn} is not on offer any more: a tool of it is not active"
            raise NotNowError("workflow_not_offered", message)
        self._prices.check(definition.fqn, offer.funds_mist)
        return await self._calls.call(offer, ports, progress)

    async def _read(self, start: int, limit: int) -> CataloguePage:
        page = await self._read_page(start, limit)
        self._prices.tell(page.prices_mist)
        return page

    async def _read_page(self, start: int, limit: int) -> CataloguePage:
        names = await self._offers.names()
        end = min(start + _PER_PAGE, len(names))
        found: list[WorkflowOffer] = []
        for begin in range(start, end, _AT_ONCE):
            found += await self._offers.among(names[begin : min(begin + _AT_ONCE, end)])
            if len(found) > limit:
                return _page(found[:limit], names.index(found[limit].workflow.fqn))
        return _page(found, end if end < len(names) else None)


def _page(offers: Sequence[WorkflowOffer], following: int | None) -> CataloguePage:
    return CataloguePage(
        tuple(offer.definition for offer in offers),
        None if following is None else str(following),
        {offer.definition.fqn: offer.funds_mist for offer in offers},
    )
