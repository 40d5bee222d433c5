"""Executions of workflows, for those who begin them; anyone may read or `refill` one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from nexus_tools.client import WENT_BACK, EventRecord, follow_events, past_events
from nexus_tools.errors import NotFoundError, NotNowError, UsageError
from nexus_tools.package import (
    PackageClient,
    Sent,
    event_filter,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.package.move import cleaning
from nexus_tools.package.move import execution as calls
from nexus_tools.package.move import records as moves
from nexus_tools.package.move.dag import Dag
from nexus_tools.package.move.execution import (
    EntryKey,
    Execution,
    ExecutionBegun,
    ExecutionEnded,
)
from nexus_tools.package.move.invocation import InvocationRequested
from nexus_tools.package.move.leader import Leader
from nexus_tools.package.move.leader_registry import LeaderSettings
from nexus_tools.package.move.tool import Tool
from nexus_tools.registry.execution_reading import ExecutionState, read_state
from nexus_tools.registry.invocations import DEFAULT_OUTCOME_BYTES
from nexus_tools.registry.leader_registry import LeaderRegistry
from nexus_tools.registry.registration import how_to_revive
from nexus_tools.registry.step_commands import MAX_STEPS, Foresight, StepCommands
from nexus_tools.registry.workflow_reading import PublishedWorkflow, read_workflow
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.units import sui
from nexus_tools.workflow import MAX_EXECUTION_MS, InputPort, chosen_group, entry_values

DEFAULT_STEPS = 1_000
"""How many runs an execution may request if nobody says so."""

DEFAULT_LASTS_MS = 24 * 3_600_000
"""How long it may last if nobody says so."""

_MAX_LEADERS = 2
_IN_BLOCKS = 8
"""How many runs of a vertex in a region or loop the funds are meant for if nobody says so."""
_RUN_BYTES = 1_400 + 400
"""More than the invocation and the record of a run take."""
_RECORD_BYTES = 1_200
"""What closing a run rewrites, as `attempt.move` says."""
_CLEANED = 64
"""How many objects one transaction removes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BegunExecution:
    """An execution that was begun."""

    execution: Address
    sent: Sent
    funds_mist: int


class Executions(PackageClient):
    """The executions of a deployment.

    Besides the errors that are named, every method raises as `SuiClient` does.
    """

    # --- Beginning

    async def begin(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        *,
        group: str | None = None,
        funds_mist: int | None = None,
        leaders: Sequence[Address] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
        lasts_ms: int = DEFAULT_LASTS_MS,
    ) -> BegunExecution:
        """Begin an execution and request its first runs, in one transaction.

        `inputs` are JSON values by the names that the document has for entry ports. Each tool may
        cost what `max_prices_mist` says by its FQN, else what it costs now. `leaders` are one or
        two, in order; without them, those are taken that each tool accepts. What is not spent of
        the funds comes back at the end; `estimate` says how much is enough. Raises, before money
        moves, `UsageError` for inputs (`input_missing`, `input_unknown`, …), `tool_unknown`,
        `tool_not_active`, `signature_required`, `no_leader`, `price_too_high` and `lasts_too_long`.
        """
        if not 0 < lasts_ms <= MAX_EXECUTION_MS:
            raise UsageError("lasts_too_long", "an execution lasts 90 days at most")
        document, plan = workflow.document, workflow.plan
        chosen = chosen_group(document, group)
        values = entry_values(document, chosen, inputs)
        tools = await self._tools(workflow)
        caps = _caps(workflow, tools, max_prices_mist or {})
        named = await self._leaders_for(tools, leaders)
        if max_outcome_bytes is None:
            least = (tool.min_outcome_bytes for tool in tools)
            max_outcome_bytes = max(DEFAULT_OUTCOME_BYTES, *least)
        settings = await self._registry.settings()
        if funds_mist is None:
            price = await self.client.gas_price()
            funds_mist = _enough_mist(workflow, tools, settings, max_outcome_bytes, price)
        builder, package = TransactionBuilder(), self.deployment.package
        execution = calls.begin(
            builder,
            package,
            self.deployment.leader_registry,
            settings.revision,
            workflow.id,
            list(plan.groups).index(chosen.name),
            named[0],
            caps,
            max_outcome_bytes,
            max_steps,
            lasts_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for backup in named[1:]:
            calls.name_backup(builder, package, execution, backup)
        numbers = {name: number for number, name in enumerate(plan.vertices)}
        for vertex, ports in _by_vertex(values).items():
            given = make_ports(builder, package, ports_of(ports))
            calls.give(builder, package, execution, numbers[vertex], given)
        foresight = Foresight(plan)
        foresight.begun(chosen.name)
        commands = StepCommands(self.deployment, workflow.id, plan)
        for step in foresight.steps(MAX_STEPS):
            commands.add(builder, execution, named[0], step)
        calls.share(builder, package, execution)
        sent = await self.send(builder)
        return BegunExecution(self.emitted(sent, ExecutionBegun).execution, sent, funds_mist)

    async def estimate(
        self, workflow: PublishedWorkflow, max_outcome_bytes: int | None = None
    ) -> int:
        """Funds in MIST that are enough for a run of each vertex, and for some in each block.

        Most of it is reserved for outcomes as large as they may be, and comes back.
        """
        tools = await self._tools(workflow)
        least = (tool.min_outcome_bytes for tool in tools)
        size = max_outcome_bytes or max(DEFAULT_OUTCOME_BYTES, *least)
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
        named = possible[:_MAX_LEADERS]
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

    # --- Reading

    async def get(self, execution: Address) -> Execution:
        """An execution as it is now. Raises `execution_unknown`."""
        found = self.decoded(await self.client.object(execution), Execution)
        if found is None:
            raise NotFoundError(
                "execution_unknown",
                f"there is no execution {execution} on {self.client.network.name}",
                hint="it may be deleted: its owner cleans up after its end",
            )
        return found

    async def state(
        self, execution: Address, workflow: PublishedWorkflow | None = None
    ) -> ExecutionState:
        """How far an execution is, and what it came to. Raises `execution_unknown`."""
        found = await self.get(execution)
        if workflow is None:
            workflow = await read_workflow(self, await self.read(found.dag, Dag))
        return await read_state(self.client, self.deployment, found, workflow)

    async def begun(self, owner: Address | None = None) -> tuple[ExecutionBegun, ...]:
        """What was begun by an address, without one the wallet's, as the node's events tell."""
        who = owner or self.client.address
        asked = past_events(self.client, event_filter(self.deployment, ExecutionBegun))
        found = [parse_event(self.deployment, record.event) async for record in asked]
        return tuple(
            each for each in found if isinstance(each, ExecutionBegun) and each.owner == who
        )

    async def wait(self, execution: Address) -> Execution:
        """The execution once it has ended, however long that takes.

        Bound it with `asyncio.timeout`. Raises `execution_unknown`.
        """
        kinds = event_filter(self.deployment, ExecutionEnded)
        while True:
            try:
                async with aclosing(follow_events(self.client, kinds)) as items:
                    looked = False
                    async for item in items:
                        if looked and not self._is_end(item, execution):
                            continue
                        looked = True  # what happens after this look is followed
                        found = await self.get(execution)
                        if found.ended_at_ms is not None:
                            return found
            except NotFoundError as error:
                if error.code != WENT_BACK:
                    raise

    def _is_end(self, item: object, execution: Address) -> bool:
        if not isinstance(item, EventRecord):
            return False
        event = parse_event(self.deployment, item.event)
        return isinstance(event, ExecutionEnded) and event.execution == execution

    # --- Changing

    async def refill(self, execution: Address, amount_mist: int) -> Sent:
        """Add to the funds; anyone may. Raises `ended`."""
        await self.get(execution)
        return await self.pay(calls.refill, execution, amount_mist=amount_mist)

    async def cancel(self, execution: Address) -> Sent:
        """End an execution: what is under way is still closed and paid. Raises `not_owner`."""
        await self.get(execution)
        return await self.call(calls.cancel, execution)

    async def expire(self, execution: Address) -> Sent:
        """End an execution whose time is over; anyone may. Raises `not_over` or `ended`."""
        await self.get(execution)
        return await self.call(calls.expire, execution)

    async def name_leaders(self, execution: Address, leaders: Sequence[Address]) -> Sent:
        """Have others carry it from now on. Raises `not_owner`, `leader_not_active`."""
        if not 0 < len(leaders) <= _MAX_LEADERS:
            raise UsageError("leaders_named", "an execution names one leader, or two")
        builder, package = TransactionBuilder(), self.deployment.package
        calls.name_leader(builder, package, execution, leaders[0])
        for backup in leaders[1:]:
            calls.name_backup(builder, package, execution, backup)
        return await self.send(builder)

    async def clean(self, execution: Address) -> tuple[Sent, ...]:
        """Remove all that is left of an ended execution, for what Sui took for storing it.

        Raises `not_ended`, or `too_early` in the first 7 days, when the owner alone may.
        """
        found = await self.get(execution)
        if found.ended_at_ms is None:
            raise NotNowError(
                "not_ended",
                f"the execution {execution} has not ended",
                hint="wait, or cancel it",
            )
        sent: list[Sent] = []
        for builder in await self._cleaning(found):
            sent.append(await self.send(builder))
            if self.dry_run:
                break
        return tuple(sent)

    async def _cleaning(self, execution: Execution) -> list[TransactionBuilder]:
        """The transactions that remove invocations and records, and then the execution."""
        package, place = self.deployment.package, execution.id
        builders: list[TransactionBuilder] = []
        for invocations in _parts(await self._invocations(execution)):
            builders.append(TransactionBuilder())
            for each in invocations:
                cleaning.clean_invocation(builders[-1], package, place, each)
        runs: list[moves.Run] = []
        instances: list[moves.Instance] = []
        marks: dict[tuple[int, tuple[int, ...], int, int], list[int]] = defaultdict(list)
        for field in await self.client.dynamic_fields(execution.walks.records.id):
            if field.key_type == self.deployment.type_of(moves.Run):
                runs.append(moves.Run.bcs.decode(field.key))
            elif field.key_type == self.deployment.type_of(moves.Instance):
                instances.append(moves.Instance.bcs.decode(field.key))
            else:
                mark = moves.Mark.bcs.decode(field.key)
                marks[mark.region, mark.path, mark.vertex, mark.input].append(mark.iteration)
        for part in _parts(runs):
            builders.append(TransactionBuilder())
            paths = [each.path for each in part]
            cleaning.clean_runs(builders[-1], package, place, [each.vertex for each in part], paths)
        for some in _parts(instances):
            builders.append(TransactionBuilder())
            blocks = [each.block for each in some]
            cleaning.clean_instances(builders[-1], package, place, blocks, [e.path for e in some])
        for key, iterations in marks.items():
            for numbers in _parts(iterations):
                builders.append(TransactionBuilder())
                cleaning.clean_marks(builders[-1], package, place, *key, numbers)
        last = TransactionBuilder()
        entries = [
            EntryKey.bcs.decode(field.key).pos0
            for field in await self.client.dynamic_fields(place)
            if field.key_type == self.deployment.type_of(EntryKey)
        ]
        cleaning.clean_entries(last, package, place, entries)
        cleaning.delete(last, package, place)
        return [*builders, last]

    async def _invocations(self, execution: Execution) -> list[Address]:
        """The invocations that are left, as the node's events tell."""
        if not execution.invocations:
            return []
        asked = past_events(self.client, event_filter(self.deployment, InvocationRequested))
        events = [parse_event(self.deployment, record.event) async for record in asked]
        ids = [
            each.invocation
            for each in events
            if isinstance(each, InvocationRequested)
            and each.attempt is not None
            and each.attempt.execution == execution.id
        ]
        found = await self.client.objects(ids)
        return [place for place, value in zip(ids, found, strict=True) if value is not None]

    @property
    def _registry(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)


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


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _CLEANED):
        yield values[start : start + _CLEANED]
