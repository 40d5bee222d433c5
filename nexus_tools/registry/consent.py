"""To what the owner of an execution consents, found out before money moves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import NotFoundError, NotNowError
from nexus_tools.package import PackageClient
from nexus_tools.package.move.leader import Leader
from nexus_tools.package.move.leader_registry import LeaderSettings
from nexus_tools.package.move.tool import Tool
from nexus_tools.registry.invocations import DEFAULT_OUTCOME_BYTES
from nexus_tools.registry.leader_records import MAX_NAMED
from nexus_tools.registry.leader_registry import LeaderRegistry
from nexus_tools.registry.registration import how_to_revive
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.sui.address import Address
from nexus_tools.units import sui
from nexus_tools.workflow import InputPort, chosen_group, entry_values

_IN_BLOCKS = 8
"""How many runs of a vertex in a region or loop the funds are meant for if nobody says so."""
_RUN_BYTES = 1_400 + 400
"""More than the invocation and the record of a run take."""
_RECORD_BYTES = 1_200
"""What closing a run rewrites, as `attempt.move` says."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an execution is begun with; `enough_mist` are funds for a run of each vertex.

    `group` and the keys of `values`, which are vertices, are numbers in the document;
    `max_prices_mist` are by the numbers of tools.
    """

    settings: LeaderSettings
    group: int
    values: Mapping[int, Mapping[str, Any]]
    leaders: tuple[Address, ...]
    max_prices_mist: Sequence[int]
    max_outcome_bytes: int
    enough_mist: int


class Consent(PackageClient):
    """What executions are begun with."""

    async def terms(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        leaders: Sequence[Address] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
    ) -> Terms:
        """What is asked for, or follows from what there is now. Raises as `Executions.begin`."""
        chosen = chosen_group(workflow.document, group)
        given = entry_values(workflow.document, chosen, inputs)
        tools = await self._tools(workflow)
        max_prices = _caps(workflow, tools, max_prices_mist or {})
        named = await self._leaders_for(tools, leaders)
        size = _outcome_bytes(tools, max_outcome_bytes)
        settings, price = await self._registry.settings(), await self.client.gas_price()
        numbers = {name: number for number, name in enumerate(workflow.plan.vertices)}
        values = {numbers[name]: ports for name, ports in _by_vertex(given).items()}
        enough_mist = _enough_mist(workflow, tools, settings, size, price)
        place = list(workflow.plan.groups).index(chosen.name)
        return Terms(settings, place, values, named, max_prices, size, enough_mist)

    async def enough_mist(self, workflow: PublishedWorkflow, max_outcome_bytes: int | None) -> int:
        """Funds that are enough for a run of each vertex, and for some in each block."""
        tools = await self._tools(workflow)
        size = _outcome_bytes(tools, max_outcome_bytes)
        settings, price = await self._registry.settings(), await self.client.gas_price()
        return _enough_mist(workflow, tools, settings, size, price)

    async def _tools(self, workflow: PublishedWorkflow) -> list[Tool]:
        found: list[Tool] = []
        read = await self.find_all(workflow.tools, Tool)
        for fqn, tool in zip(workflow.fqns, read, strict=True):
            if tool is None:
                raise NotFoundError("tool_unknown", f"there is no tool {fqn}")
            if not tool.is_active:
                raise NotNowError(
                    "tool_not_active",
                    f"{tool.fqn} is {tool.state}: it takes no invocation",
                    hint=f"its owner has to {how_to_revive(tool, as_owner=False)}",
                )
            if tool.requires_signed_outcome:
                raise NotNowError(
                    "signature_required",
                    f"{tool.fqn} signs its answers: workflows cannot use it yet",
                )
            found.append(tool)
        return found

    async def _leaders_for(
        self, tools: Sequence[Tool], among: Sequence[Address]
    ) -> tuple[Address, ...]:
        """One or two active leaders, of whom each tool accepts one at least."""
        if among:
            found = await self.find_all(among, Leader)
            possible = [each for each in found if each is not None and each.is_active]
        else:
            listed = [each for each in await self._registry.list() if each.is_active]
            possible = [each for each in listed if all(tool.accepts(each.id) for tool in tools)]
        named = possible[:MAX_NAMED]
        for tool in tools:
            if not any(tool.accepts(each.id) for each in named):
                raise NotNowError(
                    "no_leader",
                    f"no active leader{' of those that are named' if among else ''} carries all"
                    f" tools of the workflow: none for {tool.fqn}",
                    hint=f"`nexus-tools leader list --for {tool.fqn}` shows whom it accepts",
                )
        if not named:
            raise NotNowError("no_leader", "no leader is active")
        return tuple(each.id for each in named)

    @property
    def _registry(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)


def _outcome_bytes(tools: Sequence[Tool], wanted: int | None) -> int:
    """How large outcomes may be; if nobody says so, as large as a tool asks for."""
    if wanted is not None:
        return wanted
    return max(DEFAULT_OUTCOME_BYTES, *(tool.min_outcome_bytes for tool in tools))


def _by_vertex(values: Mapping[InputPort, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for target, value in values.items():
        found[target.vertex][target.port] = value
    return found


def _caps(
    workflow: PublishedWorkflow, tools: Sequence[Tool], given: Mapping[str, int]
) -> list[int]:
    """The highest price of each tool, by its number."""
    caps = []
    for fqn, tool in zip(workflow.fqns, tools, strict=True):
        cap = given.get(fqn, tool.price_mist)
        if tool.price_mist > cap:
            raise NotNowError(
                "price_too_high",
                f"{fqn} costs {sui(tool.price_mist)}, and may cost {sui(cap)}",
                hint="raise the limit, or wait until its owner lowers the price",
            )
        caps.append(cap)
    return caps


def _enough_mist(
    workflow: PublishedWorkflow,
    tools: Sequence[Tool],
    settings: LeaderSettings,
    max_outcome_bytes: int,
    gas_price: int,
) -> int:
    fees_mist = (
        settings.fee_gas_units * gas_price
        + settings.fee_storage_mist
        + settings.settle_margin_mist
        + settings.fee_per_input_byte_mist * _RECORD_BYTES
        + settings.fee_per_outcome_byte_mist * (max_outcome_bytes + _RUN_BYTES)
    )
    prices = dict(zip(workflow.fqns, (tool.price_mist for tool in tools), strict=True))
    return sum(
        (prices[vertex.vertex.fqn] + fees_mist) * (_IN_BLOCKS if vertex.blocks else 1)
        for vertex in workflow.plan.vertices.values()
    )
