"""Schedules: executions of a workflow that begin at planned times, or by events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from nexus_tools.client import past_events
from nexus_tools.errors import NotFoundError, NotNowError, UsageError
from nexus_tools.package import (
    PackageClient,
    Sent,
    event_filter,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.package.move.workflows import execution as executions
from nexus_tools.package.move.workflows import schedule as calls
from nexus_tools.package.move.workflows import timing as timings
from nexus_tools.package.move.workflows.execution import Execution, TermsKey
from nexus_tools.package.move.workflows.schedule import (
    Cursor,
    Order,
    OrderKey,
    Schedule,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleTriggered,
)
from nexus_tools.package.move.workflows.terms import Terms
from nexus_tools.package.move.workflows.timing import Plan, Timing
from nexus_tools.registry.consent import DEFAULT_STEPS, Consent
from nexus_tools.registry.consent import Terms as Consented
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import dynamic_field_id
from nexus_tools.sui.transaction import Argument
from nexus_tools.sui.type_tag import TYPE_TAG, field_tag

Key = TypeVar("Key", OrderKey, TermsKey)
Value = TypeVar("Value", Order, Terms)
Told = TypeVar("Told", ScheduleCreated, ScheduleTriggered, ScheduleCollected)

DEFAULT_KEEPER_FEE_MIST = 500_000
"""What a keeper earns with each execution if nobody says so."""

DEFAULT_MAX_FAILURES = 5
"""After how many failures in a row a schedule pauses if nobody says so."""

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class CreatedSchedule:
    """A schedule that was created; each of its executions gets `each_mist`.

    `next_at_ms` is when the first one is planned, if one is.
    """

    schedule: Address
    sent: Sent
    each_mist: int
    next_at_ms: int | None
    leaders: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class _Limits:
    each_mist: int
    max_steps: int
    lasts_ms: int
    keeper_fee_mist: int
    overlaps: bool


class Schedules(PackageClient):
    """The schedules of a deployment, for their owners and for keepers; anyone may `refill` one."""

    async def create(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        timing: Timing,
        *,
        funds_mist: int,
        each_mist: int | None = None,
        group: str | None = None,
        leaders: Sequence[Address] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
        lasts_ms: int = HOUR_MS,
        keeper_fee_mist: int = DEFAULT_KEEPER_FEE_MIST,
        overlaps: bool = False,
        max_failures: int = DEFAULT_MAX_FAILURES,
        max_executions: int | None = None,
    ) -> CreatedSchedule:
        """Create a schedule that begins executions of a workflow from `funds_mist`.

        Each execution has `inputs` and terms as `Executions.begin` takes them, and `each_mist`,
        without it as much as is enough. A keeper that begins one gets its costs and
        `keeper_fee_mist`. If executions do not overlap, what is planned while one runs is skipped.
        After `max_failures` in a row (0: never) it pauses, and after `max_executions` it ends.
        Raises `invalid_interval`, `invalid_times`, `invalid_event`, `too_dear`,
        `too_many_entries`, `values_too_large`, and as `Executions.begin`.
        """
        consent = Consent(self.client, self.deployment)
        terms = await consent.terms(
            workflow,
            inputs,
            group=group,
            leaders=leaders,
            max_prices_mist=max_prices_mist,
            max_outcome_bytes=max_outcome_bytes,
        )
        each_mist = terms.enough_mist if each_mist is None else each_mist
        limits = _Limits(each_mist, max_steps, lasts_ms, keeper_fee_mist, overlaps)
        often = (max_failures, max_executions)
        builder = self._creation(workflow, terms, timing, limits, often, funds_mist)
        sent = await self.send(builder)
        told = self.emitted(sent, ScheduleCreated)
        return CreatedSchedule(told.schedule, sent, each_mist, told.next_at_ms, terms.leaders)

    def _creation(  # noqa: PLR0917 - what `create` was given
        self,
        workflow: PublishedWorkflow,
        terms: Consented,
        timing: Timing,
        limits: "_Limits",
        often: tuple[int, int | None],
        funds_mist: int,
    ) -> TransactionBuilder:
        """The transaction that creates a schedule."""
        builder, package = TransactionBuilder(), self.deployment.workflows
        schedule = calls.create(
            builder,
            package,
            self.deployment.leader_registry,
            terms.settings.revision,
            workflow.id,
            terms.group,
            terms.leaders[0],
            terms.max_prices_mist,
            terms.max_outcome_bytes,
            limits.max_steps,
            limits.lasts_ms,
            self._timing(builder, timing),
            limits.each_mist,
            limits.keeper_fee_mist,
            limits.overlaps,
            *often,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for vertex, values in terms.values.items():
            ports = make_ports(builder, self.deployment.package, ports_of(values))
            calls.give(builder, package, schedule, vertex, ports)
        for backup in terms.leaders[1:]:
            calls.name_backup(builder, package, schedule, backup)
        calls.share(builder, package, schedule)
        return builder

    def _timing(self, builder: TransactionBuilder, timing: Timing) -> Argument:
        package, late_ms = self.deployment.workflows, timing.max_late_ms
        match timing.plan:
            case Plan.Every(interval_ms, first_at_ms, until_ms):
                return timings.every(builder, package, interval_ms, first_at_ms, until_ms, late_ms)
            case Plan.At(times):
                return timings.at(builder, package, times, late_ms)
            case Plan.OnEvent(event, pause_ms):
                return timings.on_event(builder, package, event, pause_ms)

    # --- Reading

    async def get(self, schedule: Address) -> Schedule:
        """A schedule as it is now. Raises `schedule_unknown`."""
        found = self.decoded(await self.client.object(schedule), Schedule)
        if found is None:
            raise NotFoundError(
                "schedule_unknown",
                f"there is no schedule {schedule} on {self.client.network.name}",
                hint="`nexus-tools schedule list` shows yours that are not deleted",
            )
        return found

    async def order(self, schedule: Address) -> Order:
        """To what its owner consented. Raises `schedule_unknown`."""
        await self.get(schedule)
        return await self._field(schedule, OrderKey, Order)

    async def list(self, owner: Address | None = None) -> tuple[Schedule, ...]:
        """The schedules of an address that are not deleted, the oldest first.

        Without one, the wallet's. They are found by the events of their creation, so a node
        tells of those that it keeps events of.
        """
        address = owner or self.client.address
        created = await self._told(ScheduleCreated)
        ids = [each.schedule for each in created if each.owner == address]
        return tuple(each for each in await self.find_all(ids, Schedule) if each is not None)

    async def executions(self, schedule: Address) -> tuple[ScheduleTriggered, ...]:
        """What a schedule began, the oldest first, as far as the node keeps events."""
        triggered = await self._told(ScheduleTriggered)
        return tuple(each for each in triggered if each.schedule == schedule)

    async def uncollected(self, schedule: Address) -> tuple[Execution, ...]:
        """The executions of a schedule that are not collected, the oldest first."""
        collected = {each.execution for each in await self._told(ScheduleCollected)}
        began = [each.execution for each in await self.executions(schedule)]
        found = await self.find_all([each for each in began if each not in collected], Execution)
        return tuple(each for each in found if each is not None)

    async def _told(self, kind: type[Told]) -> tuple[Told, ...]:
        asked = past_events(self.client, event_filter(self.deployment, kind))
        parsed = [parse_event(self.deployment, record.event) async for record in asked]
        return tuple(each for each in parsed if isinstance(each, kind))

    # --- For owners

    async def give(self, schedule: Address, vertex: int, values: Mapping[str, Any]) -> Sent:
        """Give other entry values to a vertex, for what begins from now on.

        Raises `not_owner` or `values_too_large`.
        """
        builder, package = TransactionBuilder(), self.deployment.workflows
        calls.give(
            builder,
            package,
            schedule,
            vertex,
            make_ports(builder, self.deployment.package, ports_of(values)),
        )
        return await self.send(builder)

    async def name_leaders(self, schedule: Address, leaders: Sequence[Address]) -> Sent:
        """Let one or two other leaders trigger it and carry what it begins from now on.

        Raises `leaders_named`, `not_owner`, `leader_not_active` or `same_leader`.
        """
        builder, package = TransactionBuilder(), self.deployment.workflows
        match leaders:
            case [leader, *backups] if len(backups) <= 1:
                calls.name_leader(builder, package, schedule, leader)
                for backup in backups:
                    calls.name_backup(builder, package, schedule, backup)
            case _:
                raise UsageError("leaders_named", "a schedule names one leader, or two")
        return await self.send(builder)

    async def pause(self, schedule: Address) -> Sent:
        """Begin nothing from now on. Raises `not_owner` or `paused`."""
        return await self.call(calls.pause, schedule)

    async def resume(self, schedule: Address) -> Sent:
        """Go on with what is planned from now on.

        What was planned meanwhile is not made up for. Raises `not_owner`, `not_paused` or
        `cancelled`.
        """
        return await self.call(calls.resume, schedule)

    async def cancel(self, schedule: Address) -> Sent:
        """Begin nothing more, and take back the funds and what executions left that have ended.

        The schedule is deleted with it, unless an execution still runs: `delete` does so
        afterwards. Raises `schedule_unknown`, `not_owner` or `cancelled`.
        """
        builder, found = TransactionBuilder(), await self.get(schedule)
        left = await self._collect(builder, schedule)
        if not found.is_cancelled:
            calls.cancel(builder, self.deployment.workflows, schedule)
        if found.running == left:
            calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    async def delete(self, schedule: Address) -> Sent:
        """Delete a schedule that is cancelled, for its storage rebate.

        What executions left that have ended is taken back. Raises `not_owner`, `not_cancelled` or
        `not_collected`.
        """
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    # --- For anyone

    async def refill(self, schedule: Address, amount_mist: int) -> Sent:
        """Add to the funds. Raises `cancelled`."""
        return await self.pay(calls.refill, schedule, amount_mist=amount_mist)

    async def collect(self, schedule: Address) -> Sent:
        """Let flow back what executions left that have ended. Raises `nothing_to_collect`."""
        builder = TransactionBuilder()
        if not await self._collect(builder, schedule):
            raise NotNowError(
                "nothing_to_collect", f"no execution of the schedule {schedule} has ended since"
            )
        return await self.send(builder)

    async def _collect(self, builder: TransactionBuilder, schedule: Address) -> int:
        return await self._add_collects(builder, schedule, await self.uncollected(schedule))

    async def _add_collects(
        self, builder: TransactionBuilder, schedule: Address, began: Sequence[Execution]
    ) -> int:
        """Collect what has ended, or is late and ends by this; how many executions that were."""
        package, count = self.deployment.workflows, 0
        for execution in began:
            if execution.ended_at_ms is None:
                if execution.walks.under_way or not await self._is_late(execution.id):
                    continue
                executions.expire(builder, package, execution.id)
            calls.collect(builder, package, schedule, execution.id)
            count += 1
        return count

    async def _is_late(self, execution: Address) -> bool:
        terms = await self._field(execution, TermsKey, Terms)
        return await self.client.now_ms() >= terms.deadline_ms

    async def _field(self, parent: Address, key: type[Key], kind: type[Value]) -> Value:
        """The one field of an object that has a key without fields."""
        kinds = self.deployment.type_of(key), self.deployment.type_of(kind)
        name = TYPE_TAG.encode(kinds[0]), key.bcs.encode(key())
        value = await self.client.object(dynamic_field_id(parent, *name))
        assert value is not None  # it is there as long as its parent is
        return cast("Value", self.deployment.decode_entry(value, field_tag(*kinds)))

    async def trigger(self, schedule: Address, leader: Address | None = None) -> Sent:
        """Begin the execution that is due; the wallet is paid for it.

        What ended before is collected first. As a worker of a `leader` that the schedule names, in
        its window; without one, when all windows are over. Nothing happens, without an error, if
        nothing is due, another execution runs, or funds are short: then there is no
        `ScheduleTriggered` among the events. Raises `schedule_unknown`, `not_named`, `not_worker`,
        `by_event`, `wrong_version` or `not_accepting`.
        """
        builder = TransactionBuilder()
        found, began = await self.get(schedule), await self.uncollected(schedule)
        await self.add_trigger(builder, found, leader, began)
        return await self.send(builder)

    async def add_trigger(
        self,
        builder: TransactionBuilder,
        schedule: Schedule,
        leader: Address | None,
        began: Sequence[Execution],
    ) -> None:
        """The commands of `trigger`; of what it `began`, what has ended is collected first."""
        await self._add_collects(builder, schedule.id, began)
        package, registry = self.deployment.workflows, self.deployment.leader_registry
        if leader is None:
            calls.trigger_by_anyone(builder, package, schedule.id, registry, schedule.dag)
        else:
            calls.trigger(builder, package, schedule.id, registry, schedule.dag, leader)

    async def trigger_by_event(self, schedule: Address, leader: Address, event: Cursor) -> Sent:
        """As a worker of a leader that the schedule names, begin an execution for an event.

        Nothing happens, without an error, if this event or a later one was told before, and as
        `trigger` says. Raises `schedule_unknown`, `not_named`, `not_worker`, `not_by_event`,
        `wrong_version` or `not_accepting`.
        """
        builder, package = TransactionBuilder(), self.deployment.workflows
        dag, registry = (await self.get(schedule)).dag, self.deployment.leader_registry
        await self._collect(builder, schedule)
        place = event.checkpoint, event.transaction, event.event
        calls.trigger_by_event(builder, package, schedule, registry, dag, leader, *place)
        return await self.send(builder)
