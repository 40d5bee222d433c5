"""The catalogue of published workflows for an MCP server, with calls as executions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cachetools import LRUCache

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import CataloguePage, PageCache, Progress
from nexus_tools.mcp_server.catalogue.checked_schemas import CheckedSchemas
from nexus_tools.mcp_server.catalogue.listed_prices import ListedPrices
from nexus_tools.mcp_server.catalogue.registry_catalogue import admitted
from nexus_tools.mcp_server.catalogue.untrusted import skip_on_error
from nexus_tools.mcp_server.catalogue.workflow_definition import WorkflowDefinition
from nexus_tools.registry import (
    DEFAULT_STEPS,
    LeaderRegistry,
    PublishedWorkflow,
    ToolFilter,
    ToolRegistry,
    Workflows,
    estimate_execution_cost,
)
from nexus_tools.sui.client import CHAIN_ROLLED_BACK, Cursor, past_events
from nexus_tools.tool import Outcome, ToolFqn

_WORKFLOWS_KEPT = 1_024

# Limits for the reads of one page. With a selective filter, pages are short or empty.
_AT_ONCE = 20
_PER_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class WorkflowTerms:
    """The terms of executions: the minimum `max_outcome_bytes`, and the maximum duration in ms."""

    max_outcome_bytes: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class WorkflowOffer:
    """A published workflow whose tools are all active, with their current state.

    An execution starts with `funds_mist`, and an outcome may have `max_outcome_bytes`.
    """

    workflow: PublishedWorkflow
    definition: WorkflowDefinition
    funds_mist: int
    max_outcome_bytes: int


class WorkflowOffers:
    """The workflows that are valid, have active tools, and pass the filter.

    `max_price_mist` limits the initial funds of an execution. Publications are read from the node's
    events. The catalogue offers every workflow, so the first page reads all publications, one
    request for 1 000 of them. Later pages read only new publications.
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
        self._schemas = CheckedSchemas()
        self._reading = asyncio.Lock()
        self._names: list[ToolFqn] = []
        self._read_to: Cursor | None = None
        self._kept: LRUCache[ToolFqn, PublishedWorkflow | None] = LRUCache(_WORKFLOWS_KEPT)

    async def names(self) -> Sequence[ToolFqn]:
        """Return the FQNs of all published workflows in order."""
        async with self._reading:
            try:
                await self._read_names()
            except NotFoundError as error:
                if error.code != CHAIN_ROLLED_BACK:
                    raise
                self._names, self._read_to = [], None
                self._kept.clear()
                await self._read_names()
        return self._names

    async def among(self, fqns: Sequence[ToolFqn]) -> list[WorkflowOffer]:
        """Return the offered workflows among `fqns`, in the order of `fqns`."""
        admitted_fqns = await admitted(self._registry, self._filter, fqns)
        candidates = await asyncio.gather(*map(self._workflow, admitted_fqns))
        workflows = [workflow for workflow in candidates if workflow is not None]
        if not workflows:
            return []
        ids = list(dict.fromkeys(tool for workflow in workflows for tool in workflow.tools))
        tools = dict(zip(ids, await self._registry.find_all(ids, Tool), strict=True))
        settings = await self._leaders.settings()
        gas_price = await self._registry.client.gas_price()
        offers = []
        for workflow in workflows:
            active_tools = {
                fqn: tool
                for fqn, place in zip(workflow.fqns, workflow.tools, strict=True)
                if (tool := tools[place]) is not None and tool.is_active
            }
            if len(active_tools) == len(workflow.fqns):
                with skip_on_error(workflow.fqn):
                    offers.append(self._offer(workflow, active_tools, settings, gas_price))
        return [offer for offer in offers if offer is not None]

    async def find(self, fqn: ToolFqn) -> WorkflowOffer | None:
        """Return the workflow with the current state of its tools, or None if it is not offered."""
        return next(iter(await self.among([fqn])), None)

    async def _read_names(self) -> None:
        kinds = event_filter(self._registry.deployment, DagPublished)
        async for record in past_events(self._registry.client, kinds, self._read_to):
            published = parse_event(self._registry.deployment, record.event)
            if isinstance(published, DagPublished):
                self._names.append(ToolFqn.parse(published.fqn))
            self._read_to = record.cursor

    async def _workflow(self, fqn: ToolFqn) -> PublishedWorkflow | None:
        """Return a valid workflow whose description passes the filter, or None."""
        if fqn not in self._kept:
            workflow = None
            with skip_on_error(fqn):
                workflow = await self._workflows.find(fqn)
                if workflow is None:
                    return None  # not cached, because the workflow may be published later
            self._kept[fqn] = workflow
        cached = self._kept[fqn]
        if cached is None or not self._filter.admits_text(str(fqn), cached.description):
            return None
        return cached

    def _offer(
        self,
        workflow: PublishedWorkflow,
        tools: Mapping[str, Tool],
        settings: LeaderSettings,
        gas_price: int,
    ) -> WorkflowOffer | None:
        sizes = [tool.min_outcome_bytes for tool in tools.values()]
        max_outcome_bytes = max([self._terms.max_outcome_bytes, *sizes])
        group = workflow.document.groups()[
            0
        ].name  # the estimate includes every vertex of all groups
        cost = estimate_execution_cost(
            workflow,
            group,
            tools,
            settings,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=DEFAULT_STEPS,
            gas_price=gas_price,
        )
        if self._max_price_mist is not None and cost.recommended_mist > self._max_price_mist:
            return None
        definition = WorkflowDefinition.of(
            workflow.fqn,
            workflow.description,
            workflow.document,
            {fqn: self._schemas.parse(tool.definition) for fqn, tool in tools.items()},
            duration_ms=self._terms.duration_ms,
        )
        return WorkflowOffer(workflow, definition, cost.recommended_mist, max_outcome_bytes)


class WorkflowCaller(Protocol):
    """The interface of classes that call workflows."""

    async def call(
        self, offer: WorkflowOffer, arguments: Mapping[str, Any], progress: Progress
    ) -> Outcome:
        """Start an execution of a workflow, and return its outcome."""
        ...


class WorkflowCatalogue:
    """The offered workflows in the order of publication. A cursor is a position in this order."""

    def __init__(self, offers: WorkflowOffers, calls: WorkflowCaller) -> None:
        self._offers = offers
        self._calls = calls
        self._prices = ListedPrices()
        self._pages = PageCache(self._read)

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return at most `limit` definitions. The last page has no next cursor."""
        return await self._pages.page(cursor, limit)

    async def find(self, fqn: ToolFqn) -> WorkflowDefinition | None:
        """Return the workflow with the current state of its tools, or None if it is not offered."""
        offer = await self._offers.find(fqn)
        return None if offer is None else offer.definition

    async def call(
        self, definition: Exportable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Start an execution of the workflow and follow it.

        Raises:
            WrongStateError: with code `workflow_not_offered` or `price_increased`.
        """
        offer = await self._offers.find(definition.fqn)
        if offer is None:
            message = f"{definition.fqn} is no longer available: one of its tools is not active"
            raise WrongStateError("workflow_not_offered", message)
        self._prices.check(definition.fqn, offer.funds_mist)
        return await self._calls.call(offer, ports, progress)

    async def _read(self, start: int, limit: int) -> CataloguePage:
        page = await self._read_page(start, limit)
        self._prices.record(page.prices_mist)
        return page

    async def _read_page(self, start: int, limit: int) -> CataloguePage:
        names = await self._offers.names()
        end = min(start + _PER_PAGE, len(names))
        offers: list[WorkflowOffer] = []
        for batch_start in range(start, end, _AT_ONCE):
            offers += await self._offers.among(
                names[batch_start : min(batch_start + _AT_ONCE, end)]
            )
            if len(offers) > limit:
                return _page(offers[:limit], names.index(offers[limit].workflow.fqn))
        return _page(offers, end if end < len(names) else None)


def _page(offers: Sequence[WorkflowOffer], next_position: int | None) -> CataloguePage:
    return CataloguePage(
        tuple(offer.definition for offer in offers),
        None if next_position is None else str(next_position),
        {offer.definition.fqn: offer.funds_mist for offer in offers},
    )
