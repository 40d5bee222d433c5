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
from nexus_tools.registry.consent import Consent
from nexus_tools.registry.execution_reading import ExecutionState, read_state
from nexus_tools.registry.leader_records import MAX_NAMED
from nexus_tools.registry.step_commands import MAX_STEPS, Foresight, StepCommands
from nexus_tools.registry.workflow_reading import PublishedWorkflow, read_workflow
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.workflow import MAX_EXECUTION_MS

DEFAULT_STEPS = 1_000
"""How many runs an execution may request if nobody says so."""

DEFAULT_LASTS_MS = 24 * 3_600_000
"""How long it may last if nobody says so."""

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
        terms = await self._consent.terms(
            workflow,
            inputs,
            group=group,
            leaders=leaders,
            max_prices_mist=max_prices_mist,
            max_outcome_bytes=max_outcome_bytes,
        )
        if funds_mist is None:
            funds_mist = terms.enough_mist
        plan, named = workflow.plan, terms.leaders
        builder, package = TransactionBuilder(), self.deployment.package
        execution = calls.begin(
            builder,
            package,
            self.deployment.leader_registry,
            terms.settings.revision,
            workflow.id,
            terms.group,
            named[0],
            terms.max_prices_mist,
            terms.max_outcome_bytes,
            max_steps,
            lasts_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for backup in named[1:]:
            calls.name_backup(builder, package, execution, backup)
        for vertex, ports in terms.values.items():
            given = make_ports(builder, package, ports_of(ports))
            calls.give(builder, package, execution, vertex, given)
        foresight = Foresight(plan)
        foresight.begun([*plan.groups][terms.group])
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
        return await self._consent.enough_mist(workflow, max_outcome_bytes)

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
        if not 0 < len(leaders) <= MAX_NAMED:
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
    def _consent(self) -> Consent:
        return Consent(self.client, self.deployment, dry_run=self.dry_run)


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _CLEANED):
        yield values[start : start + _CLEANED]
