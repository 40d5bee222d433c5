"""The terms of an execution (entry values, leaders, prices, limits), resolved before payment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NotFoundError, UsageError, ValidationError, WrongStateError
from nexus_tools.registry.executions.costs import ExecutionCost, estimate_execution_cost
from nexus_tools.registry.invocations.invocations import DEFAULT_MAX_OUTCOME_BYTES
from nexus_tools.registry.leaders.leader_registry import LeaderRegistry
from nexus_tools.registry.leaders.listing import LeaderRef
from nexus_tools.registry.leaders.selection import LeaderChoice, LeaderSelection
from nexus_tools.registry.tools.registration import reactivation_hint
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support import units
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import (
    EntryGroup,
    ToolPorts,
    entry_values,
    select_entry_group,
)

DEFAULT_STEPS = 1_000
"""The default limit on the number of runs that an execution requests."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms with which an execution starts, and its estimated cost.

    `group` is the number of the entry group. The keys of `values` are vertex numbers.
    `max_prices_mist` follows the order of the workflow's tools. `max_timeout_ms` is the longest
    timeout of these tools.
    """

    settings: LeaderSettings
    group: int
    values: Mapping[int, Mapping[str, Any]]
    leaders: tuple[Address, ...]
    max_prices_mist: Sequence[int]
    max_timeout_ms: int
    max_outcome_bytes: int
    cost: ExecutionCost

    @property
    def recommended_mist(self) -> int:
        """The recommended funds, as in `ExecutionCost.recommended_mist`."""
        return self.cost.recommended_mist

    def prices_of(self, workflow: PublishedWorkflow) -> dict[str, int]:
        """Return the highest accepted price of each tool of the workflow by FQN, in MIST."""
        return dict(zip(workflow.fqns, self.max_prices_mist, strict=True))


class TermsResolver(PackageClient):
    """A resolver of an execution's terms from arguments and from the current state of the chain."""

    async def terms(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        leaders: Sequence[LeaderRef] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> Terms:
        """Return the terms, with on-chain defaults. Raises the errors of `Executions.start`."""
        tools = await self._tools(workflow)
        size = _outcome_bytes(tools, max_outcome_bytes)
        entry_group, entry_inputs = _entry_inputs(workflow, tools, inputs, group)
        selected = (await self.choose_leaders(tools, leaders)).leaders
        prices = _max_prices(workflow, tools, max_prices_mist or {})
        for fqn, tool in tools.items():
            _check_tool(tool, selected, prices[fqn], size)
        settings = await self._registry.settings()
        _check_outcome_limit(settings, size)
        numbers = {name: number for number, name in enumerate(workflow.plan.vertices)}
        return Terms(
            settings,
            list(workflow.plan.groups).index(entry_group.name),
            {numbers[name]: ports for name, ports in entry_inputs.items()},
            selected,
            [prices[fqn] for fqn in workflow.fqns],
            max(tool.definition.timeout_ms for tool in tools.values()),
            size,
            await self._cost(
                workflow,
                tools,
                settings,
                group=entry_group.name,
                max_outcome_bytes=size,
                max_steps=max_steps,
            ),
        )

    async def estimate_cost(
        self,
        workflow: PublishedWorkflow,
        *,
        group: str | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> ExecutionCost:
        """Estimate the cost of an execution. Raises `group_unknown` or `group_missing`."""
        entry_group, tools = (
            select_entry_group(workflow.document, group),
            await self._tools(workflow),
        )
        size, settings = _outcome_bytes(tools, max_outcome_bytes), await self._registry.settings()
        sizes = {"max_outcome_bytes": size, "max_steps": max_steps}
        return await self._cost(workflow, tools, settings, group=entry_group.name, **sizes)

    async def _cost(
        self,
        workflow: PublishedWorkflow,
        tools: Mapping[str, Tool],
        settings: LeaderSettings,
        *,
        group: str,
        max_outcome_bytes: int,
        max_steps: int,
    ) -> ExecutionCost:
        return estimate_execution_cost(
            workflow,
            group,
            tools,
            settings,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=max_steps,
            gas_price=await self.client.gas_price(),
        )

    async def choose_leaders(
        self, tools: Mapping[str, Tool], among: Sequence[LeaderRef] = ()
    ) -> LeaderChoice:
        """Return one or two active leaders, by default a random choice.

        If `among` is not empty, the first active leaders in it are returned. Raises `no_leader` and
        the errors of `LeaderRegistry.ids`.
        """
        if among:
            choice = await self._selection.first_usable(await self._registry.ids(among))
        else:
            lists = [tool.leaders.entries for tool in tools.values() if not tool.accepts_any_leader]
            choice = await self._draw_from(lists)
        if not choice.leaders:
            raise WrongStateError(
                "no_leader",
                "none of the given leaders is active" if among else "no active leader exists",
                hint="Run `nexus-tools leader list` to see all leaders.",
            )
        return choice

    async def _draw_from(self, lists: Sequence[Sequence[Address]]) -> LeaderChoice:
        """Draw from the leaders that are on all lists, or else from those on any list."""
        if not lists:
            return await self._selection.draw()
        on_all = set(lists[0]).intersection(*lists)
        choice = await self._selection.draw([*on_all])
        return choice if choice.leaders else await self._selection.draw([*set().union(*lists)])

    async def choose_workflow_leaders(
        self, workflow: PublishedWorkflow, among: Sequence[LeaderRef]
    ) -> LeaderChoice:
        """Return leaders for the tools of a workflow. Raises `tool_unknown` or `no_leader`."""
        return await self.choose_leaders(await self._tools(workflow), among)

    async def _tools(self, workflow: PublishedWorkflow) -> dict[str, Tool]:
        """Return the tools of a workflow by FQN. Raises `tool_unknown`."""
        objects = await self.find_all(workflow.tools, Tool)
        tools = dict(zip(workflow.fqns, objects, strict=True))
        missing = [fqn for fqn, tool in tools.items() if tool is None]
        if missing:
            raise NotFoundError("tool_unknown", f"the tool {missing[0]} does not exist")
        return {fqn: tool for fqn, tool in tools.items() if tool is not None}

    @cached_property
    def _selection(self) -> LeaderSelection:
        return LeaderSelection(self)

    @property
    def _registry(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)


def _check_outcome_limit(settings: LeaderSettings, max_outcome_bytes: int) -> None:
    """Raise `outcome_limit_too_large` if the chain would reject the outcome limit."""
    if max_outcome_bytes > settings.max_ports_bytes:
        limit = units.count(settings.max_ports_bytes, "byte")
        raise UsageError(
            "outcome_limit_too_large",
            f"the outcome limit is too large: expected at most {limit}, got {max_outcome_bytes}",
        )


def _outcome_bytes(tools: Mapping[str, Tool], requested: int | None) -> int:
    """Return the requested outcome limit in bytes, or a default that all tools allow."""
    if requested is not None:
        return requested
    return max([DEFAULT_MAX_OUTCOME_BYTES, *(tool.min_outcome_bytes for tool in tools.values())])


def _entry_inputs(
    workflow: PublishedWorkflow,
    tools: Mapping[str, Tool],
    inputs: Mapping[str, Any],
    group: str | None,
) -> tuple[EntryGroup, dict[str, dict[str, Any]]]:
    """Return the entry group, and the values of its entry ports by vertex.

    Raises the errors of `select_entry_group` and `entry_values`, and `ValidationError`
    (`input_invalid`) for a value that a tool's schema rejects.
    """
    entry_group = select_entry_group(workflow.document, group)
    facts = {fqn: ToolPorts(tool.definition.parse()) for fqn, tool in tools.items()}
    try:
        values = entry_values(workflow.document, entry_group, inputs, facts)
    except ValidationError as error:
        error.hint = f"Run `nexus-tools workflow show {workflow.fqn}` to see the inputs."
        raise
    by_vertex: dict[str, dict[str, Any]] = {}
    for target, value in values.items():
        by_vertex.setdefault(target.vertex, {})[target.port] = value
    return entry_group, by_vertex


def _max_prices(
    workflow: PublishedWorkflow, tools: Mapping[str, Tool], limits: Mapping[str, int]
) -> dict[str, int]:
    """Return the highest accepted price of each tool by FQN, by default the current price."""
    for fqn in limits:
        if fqn not in tools:
            message = f"{workflow.fqn} has no tool {fqn}"
            raise NotFoundError("tool_unknown", message, hint=f"Choose one of {', '.join(tools)}.")
    return {fqn: limits.get(fqn, tool.charge_mist) for fqn, tool in tools.items()}


def _check_tool(
    tool: Tool, leaders: Sequence[Address], max_price_mist: int, max_outcome_bytes: int
) -> None:
    """Raise an error if the chain would reject a request of the tool, as in `terms.move`."""
    if not tool.is_active:
        raise WrongStateError(
            "tool_not_active",
            f"{tool.fqn} is {tool.state} and does not accept invocations",
            hint=f"Ask its owner to {reactivation_hint(tool, as_owner=False)}.",
        )
    if tool.requires_signed_outcome and not tool.keys.keys:
        raise WrongStateError(
            "tool_without_key",
            f"{tool.fqn} requires signed answers but has no key",
            hint="Ask its owner to add one with `nexus-tools tool key add`.",
        )
    if tool.charge_mist > max_price_mist:
        raise WrongStateError(
            "price_too_high",
            f"{tool.fqn} costs {sui(tool.charge_mist)}, but the limit is {sui(max_price_mist)}",
            hint=f"Allow this price with --max-price {tool.fqn}="
            f"{units.format_sui_argument(tool.charge_mist)}.",
        )
    if tool.min_outcome_bytes > max_outcome_bytes:
        raise ValidationError(
            "outcome_limit_too_small",
            f"the outcome limit is too small for {tool.fqn}: expected at least"
            f" {tool.min_outcome_bytes} bytes, got {max_outcome_bytes}",
            hint=f"Pass --max-outcome-bytes {tool.min_outcome_bytes}, or in Python"
            f" max_outcome_bytes={tool.min_outcome_bytes}. Unused bytes are refunded.",
        )
    if not any(map(tool.accepts, leaders)):
        raise WrongStateError(
            "no_leader",
            f"{tool.fqn} does not accept any of the given leaders",
            hint=f"Run `nexus-tools leader list --tool {tool.fqn}` to see the accepted leaders.",
        )
