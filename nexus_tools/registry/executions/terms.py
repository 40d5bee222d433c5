"""To what the owner of an execution consents, found out before money moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NotFoundError, NotNowError, UsageError, ValidationError
from nexus_tools.registry.executions.costs import ExecutionCost, execution_cost
from nexus_tools.registry.invocations.invocations import DEFAULT_OUTCOME_BYTES
from nexus_tools.registry.leaders.leader_registry import LeaderName, LeaderRegistry
from nexus_tools.registry.leaders.records import MAX_NAMED, draw_leaders
from nexus_tools.registry.tools.registration import how_to_revive
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support import units
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import (
    EntryGroup,
    ToolPorts,
    chosen_group,
    entry_values,
)

DEFAULT_STEPS = 1_000
"""How many runs an execution may request if nobody says so."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an execution is begun with, and what it takes of its funds.

    `group` and the keys of `values`, which are vertices, are numbers in the document;
    `max_prices_mist` are by the numbers of tools. `max_timeout_ms` is the longest timeout of them.
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
    def enough_mist(self) -> int:
        """Funds that are enough for a run of each vertex, and for some in each block."""
        return self.cost.usual_mist

    def prices_of(self, workflow: PublishedWorkflow) -> dict[str, int]:
        """Return the highest price of each tool of the workflow by its FQN, in MIST."""
        return dict(zip(workflow.fqns, self.max_prices_mist, strict=True))


class Consent(PackageClient):
    """What executions are begun with."""

    async def terms(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        leaders: Sequence[LeaderName] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> Terms:
        """What is asked for, or follows from what there is now. Raises as `Executions.begin`."""
        tools = await self._tools(workflow)
        size = _outcome_bytes(tools, max_outcome_bytes)
        chosen, given = _given(workflow, tools, inputs, group)
        named = await self.leaders_for(tools, leaders)
        prices = _max_prices(workflow, tools, max_prices_mist or {})
        for fqn, tool in tools.items():
            _check(tool, named, prices[fqn], size)
        settings = await self._registry.settings()
        _check_bounds(settings, size)
        numbers = {name: number for number, name in enumerate(workflow.plan.vertices)}
        return Terms(
            settings,
            list(workflow.plan.groups).index(chosen.name),
            {numbers[name]: ports for name, ports in given.items()},
            tuple(leader.id for leader in named),
            [prices[fqn] for fqn in workflow.fqns],
            max(tool.definition.timeout_ms for tool in tools.values()),
            size,
            await self._cost(
                workflow,
                tools,
                settings,
                group=chosen.name,
                max_outcome_bytes=size,
                max_steps=max_steps,
            ),
        )

    async def cost(
        self,
        workflow: PublishedWorkflow,
        *,
        group: str | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
    ) -> ExecutionCost:
        """What an execution takes of its funds. Raises `group_unknown` or `group_missing`."""
        chosen, tools = chosen_group(workflow.document, group), await self._tools(workflow)
        size, settings = _outcome_bytes(tools, max_outcome_bytes), await self._registry.settings()
        sizes = {"max_outcome_bytes": size, "max_steps": max_steps}
        return await self._cost(workflow, tools, settings, group=chosen.name, **sizes)

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
        return execution_cost(
            workflow,
            group,
            tools,
            settings,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=max_steps,
            gas_price=await self.client.gas_price(),
        )

    async def leaders_for(
        self, tools: Mapping[str, Tool], among: Sequence[LeaderName] = ()
    ) -> list[Leader]:
        """One or two active leaders, `among` one's own or drawn by their records.

        Raises `no_leader`, and as `LeaderRegistry.ids`.
        """
        ids = await self._registry.ids(among)
        found = await self._registry.find_all(ids, Leader) if ids else await self._all_leaders()
        active = [each for each in found if each is not None and each.is_active]
        if not active:
            raise NotNowError(
                "no_leader",
                "no active leader " + ("is among those that are named" if among else "is there"),
                hint="`nexus-tools leader list` shows them",
            )
        if among:
            return active[:MAX_NAMED]
        possible = _accepted_by_most(active, tools)
        if len(possible) == 1:
            return possible
        by_id = {each.id: each for each in possible}
        return [by_id[each] for each in await draw_leaders(self, possible)]

    async def leaders_of(
        self, workflow: PublishedWorkflow, among: Sequence[LeaderName]
    ) -> list[Leader]:
        """Those whom the tools of a workflow accept. Raises `tool_unknown`, as `leaders_for`."""
        return await self.leaders_for(await self._tools(workflow), among)

    async def _all_leaders(self) -> list[Leader | None]:
        return [*await self._registry.list()]

    async def _tools(self, workflow: PublishedWorkflow) -> dict[str, Tool]:
        """The tools of a workflow, by FQN."""
        found = await self.find_all(workflow.tools, Tool)
        tools = dict(zip(workflow.fqns, found, strict=True))
        missing = [fqn for fqn, tool in tools.items() if tool is None]
        if missing:
            raise NotFoundError("tool_unknown", f"there is no tool {missing[0]}")
        return {fqn: tool for fqn, tool in tools.items() if tool is not None}

    @property
    def _registry(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)


def _check_bounds(settings: LeaderSettings, max_outcome_bytes: int) -> None:
    """Raises `outcome_limit_too_large` for what the chain refuses."""
    if max_outcome_bytes > settings.max_ports_bytes:
        most = units.count(settings.max_ports_bytes, "byte")
        raise UsageError("outcome_limit_too_large", f"an outcome has {most} at most")


def _outcome_bytes(tools: Mapping[str, Tool], wanted: int | None) -> int:
    """How large an outcome may be: what is wanted, or what the tools ask for."""
    if wanted is not None:
        return wanted
    return max([DEFAULT_OUTCOME_BYTES, *(tool.min_outcome_bytes for tool in tools.values())])


def _given(
    workflow: PublishedWorkflow,
    tools: Mapping[str, Tool],
    inputs: Mapping[str, Any],
    group: str | None,
) -> tuple[EntryGroup, dict[str, dict[str, Any]]]:
    """The entry group, and the values of its entry ports by vertex.

    Raises `UsageError` as `chosen_group` and `entry_values` do, and `ValidationError`
    (`input_invalid`) for a value that a tool's schema refuses.
    """
    chosen = chosen_group(workflow.document, group)
    facts = {fqn: ToolPorts(tool.definition.parse()) for fqn, tool in tools.items()}
    try:
        values = entry_values(workflow.document, chosen, inputs, facts)
    except ValidationError as error:
        error.hint = f"`nexus-tools workflow show {workflow.fqn}` shows the inputs"
        raise
    found: dict[str, dict[str, Any]] = {}
    for target, value in values.items():
        found.setdefault(target.vertex, {})[target.port] = value
    return chosen, found


def _max_prices(
    workflow: PublishedWorkflow, tools: Mapping[str, Tool], wanted: Mapping[str, int]
) -> dict[str, int]:
    """The highest price of each tool, by FQN: what is wanted, or what it costs today."""
    for fqn in wanted:
        if fqn not in tools:
            message = f"{workflow.fqn} has no tool {fqn}"
            raise NotFoundError("tool_unknown", message, hint=f"it has {', '.join(tools)}")
    return {fqn: wanted.get(fqn, tool.charge_mist) for fqn, tool in tools.items()}


def _check(tool: Tool, leaders: Sequence[Leader], most: int, max_outcome_bytes: int) -> None:
    """Raises why a tool would not be invoked, as `terms.move` says."""
    if not tool.is_active:
        raise NotNowError(
            "tool_not_active",
            f"{tool.fqn} is {tool.state}: it takes no invocation",
            hint=f"its owner has to {how_to_revive(tool, as_owner=False)}",
        )
    if tool.requires_signed_outcome and not tool.keys.keys:
        raise NotNowError(
            "tool_without_key",
            f"the answers of {tool.fqn} are to be signed, and it has no key",
            hint="its owner has to add one: `nexus-tools tool key add`",
        )
    if tool.charge_mist > most:
        raise NotNowError(
            "price_too_high",
            f"{tool.fqn} costs {sui(tool.charge_mist)}, and may cost {sui(most)}",
            hint=f"allow it: --max-price {tool.fqn}={units.rounded_up(tool.charge_mist)}",
        )
    if tool.min_outcome_bytes > max_outcome_bytes:
        raise ValidationError(
            "outcome_limit_too_small",
            f"{tool.fqn} asks for {tool.min_outcome_bytes} bytes for its answer,"
            f" and may have {max_outcome_bytes}",
            hint="allow larger outcomes: what they do not use comes back",
        )
    if not any(tool.accepts(leader.id) for leader in leaders):
        raise NotNowError(
            "no_leader",
            f"{tool.fqn} accepts none of the leaders that are named",
            hint=f"`nexus-tools leader list --for {tool.fqn}` shows whom it accepts",
        )


def _accepted_by_most(leaders: Sequence[Leader], tools: Mapping[str, Tool]) -> list[Leader]:
    """The leaders that all tools accept; if there are none, those that most do, in that order."""

    def count(leader: Leader) -> int:
        return sum(tool.accepts(leader.id) for tool in tools.values())

    everywhere = [each for each in leaders if count(each) == len(tools)]
    return everywhere or sorted(leaders, key=count, reverse=True)
