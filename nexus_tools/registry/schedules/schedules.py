"""Schedules: executions of a workflow that begin at planned times, or by events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nexus_tools.contracts import (
    ScheduleState,
    Sent,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.contracts.move_bindings.workflows import schedule as calls
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionRefunded
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Order,
    Schedule,
    ScheduleCancelled,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleTriggered,
)
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import NotNowError, UsageError
from nexus_tools.registry.creation_checkpoint import beginning_of
from nexus_tools.registry.executions.terms import DEFAULT_STEPS, Consent
from nexus_tools.registry.leaders.leader_registry import LeaderName, LeaderRegistry
from nexus_tools.registry.preconditions import check_orderer
from nexus_tools.registry.schedules.creation import check_ahead, check_funds, creation, order_of
from nexus_tools.registry.schedules.keeping import ScheduleKeeping
from nexus_tools.registry.schedules.overview import ScheduleStanding
from nexus_tools.registry.schedules.reading import read_order, read_standings, told
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.support.units import count, sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

DEFAULT_KEEPER_FEE_MIST = 500_000
"""What a keeper earns with each execution if nobody says so."""

DEFAULT_MAX_FAILURES = 5
"""After how many failures in a row a schedule pauses if nobody says so."""

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class CreatedSchedule:
    """A schedule that was created; each of its executions gets `each_mist`.

    `next_at_ms` is when the first one is planned, if one is. `max_prices_mist` and
    `max_outcome_bytes` are what `Schedules.create` took or found.
    """

    schedule: Address
    sent: Sent
    each_mist: int
    next_at_ms: int | None
    leaders: tuple[Address, ...]
    max_prices_mist: Mapping[str, int]
    max_outcome_bytes: int


@checks_arguments
class Schedules(ScheduleKeeping):
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
        leaders: Sequence[LeaderName] = (),
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
        Raises, before money moves, `times_over`, and `funds_too_small` for an execution or for the
        first of them; `invalid_interval`, `invalid_times`, `invalid_event`, `type_invalid`,
        `too_dear`, `too_many_entries`, `values_too_large`, and as `Executions.begin`.
        """
        await check_ahead(self.client, timing)
        terms = await Consent(self.client, self.deployment).terms(
            workflow,
            inputs,
            group=group,
            leaders=leaders,
            max_prices_mist=max_prices_mist,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=max_steps,
        )
        order = order_of(
            terms,
            timing,
            max_steps=max_steps,
            lasts_ms=lasts_ms,
            each_mist=terms.enough_mist if each_mist is None else each_mist,
            keeper_fee_mist=keeper_fee_mist,
            overlaps=overlaps,
            max_failures=max_failures,
            max_executions=max_executions,
        )
        begin_mist = terms.cost.begin_mist
        await check_funds(self.client, workflow, order, funds_mist, begin_mist=begin_mist)
        sent = await self.send(creation(self.deployment, workflow, order, funds_mist))
        created = self.emitted(sent, ScheduleCreated)
        next_at_ms = created.next_at_ms or None  # 0: the next event counts
        prices, size = terms.prices_of(workflow), terms.max_outcome_bytes
        return CreatedSchedule(
            created.schedule, sent, order.each_mist, next_at_ms, terms.leaders, prices, size
        )

    # --- Reading

    async def order(self, schedule: Address) -> Order:
        """To what its owner consented. Raises `schedule_unknown`."""
        return await read_order(self, schedule)

    async def list(self, owner: Address | None = None) -> tuple[Schedule, ...]:
        """The schedules of an address that are not deleted, the oldest first.

        Without one, the wallet's. They are found by the events of their creation, so a node
        tells of those that it keeps events of.
        """
        address = owner or self.client.address
        created = await told(self, ScheduleCreated)
        ids = [each.schedule for each in created if each.owner == address]
        return tuple(each for each in await self.find_all(ids, Schedule) if each is not None)

    async def standing(self, schedule: Address) -> ScheduleStanding:
        """How a schedule stands, with what is to be collected. Raises `schedule_unknown`."""
        (standing,) = await read_standings(self, [await self.get(schedule)])
        return standing

    async def standings(self, owner: Address | None = None) -> tuple[ScheduleStanding, ...]:
        """How those stand that `list` gives."""
        return await read_standings(self, await self.list(owner))

    async def executions(self, schedule: Address) -> tuple[ScheduleTriggered, ...]:
        """What a schedule began, the oldest first, as far as the node keeps events."""
        triggered = await told(self, ScheduleTriggered, await beginning_of(self, schedule))
        return tuple(each for each in triggered if each.schedule == schedule)

    # --- For owners

    async def extend(
        self,
        schedule: Address,
        *,
        times: Sequence[int] = (),
        until_ms: int | None = None,
        max_executions: int | None = None,
    ) -> Sent:
        """Plan more executions.

        `times` come after the last one of a list, `until_ms` is a later end of an interval, and
        `max_executions` counts those that started already. A schedule that is finished goes on.
        Raises `schedule_unknown`, `not_owner`, `cancelled`, `extension_missing`, `times_over`,
        `not_by_times`, `invalid_times` or `invalid_end`.
        """
        await self._owned(schedule)
        builder, target = TransactionBuilder(), (self.deployment.workflows, schedule)
        if times:
            await check_ahead(self.client, Timing(Plan.At(tuple(times)), None))
            calls.add_times(builder, *target, times)
        if until_ms is not None:
            await check_ahead(self.client, Timing(Plan.At((until_ms,)), None))
            calls.extend_until(builder, *target, until_ms)
        if max_executions is not None:
            calls.set_max_executions(builder, *target, max_executions)
        if not builder.commands:
            raise UsageError(
                "extension_missing", "give more times, a later end, or more executions"
            )
        return await self.send(builder)

    async def reset_cursor(self, schedule: Address, leaders: Sequence[LeaderName] = ()) -> Sent:
        """Let events count from now on, wherever the last one stood that a leader reported.

        With `leaders`, those report events from now on. Raises `schedule_unknown`, `not_owner`,
        `not_by_event`, `cancelled`, and as `name_leaders`.
        """
        await self._owned(schedule)
        builder = TransactionBuilder()
        if leaders:
            await self._add_leaders(builder, schedule, leaders)
        calls.reset_cursor(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    async def give(self, schedule: Address, vertex: int, values: Mapping[str, Any]) -> Sent:
        """Give other entry values to a vertex, for what begins from now on.

        Raises `schedule_unknown`, `not_owner` or `values_too_large`.
        """
        await self._owned(schedule)
        builder, package = TransactionBuilder(), self.deployment.workflows
        calls.give(
            builder,
            package,
            schedule,
            vertex,
            make_ports(builder, self.deployment.package, ports_of(values)),
        )
        return await self.send(builder)

    async def name_leaders(self, schedule: Address, leaders: Sequence[LeaderName]) -> Sent:
        """Let one or two other leaders trigger it and carry what it begins from now on.

        Raises `schedule_unknown`, `leaders_named`, `not_owner`, `leader_not_active` or
        `same_leader`.
        """
        await self._owned(schedule)
        builder = TransactionBuilder()
        await self._add_leaders(builder, schedule, leaders)
        return await self.send(builder)

    async def _add_leaders(
        self, builder: TransactionBuilder, schedule: Address, leaders: Sequence[LeaderName]
    ) -> None:
        package = self.deployment.workflows
        match await LeaderRegistry(self.client, self.deployment).ids(leaders):
            case [leader, *backups] if len(backups) <= 1:
                calls.name_leader(builder, package, schedule, leader)
                for backup in backups:
                    calls.name_backup(builder, package, schedule, backup)
            case _:
                raise UsageError("leaders_named", "a schedule names one leader, or two")

    async def pause(self, schedule: Address) -> Sent:
        """Begin nothing from now on.

        Raises `schedule_unknown`, `not_owner`, `paused`, `cancelled` or `finished`.
        """
        found = await self._owned(schedule)
        await self._check_goes_on(found)
        if found.is_paused:
            raise NotNowError(
                "paused",
                f"the schedule {schedule} is paused already",
                hint=f"`nexus-tools schedule resume {schedule}` lets it go on",
            )
        return await self.call(calls.pause, schedule)

    async def resume(self, schedule: Address) -> Sent:
        """Go on with what is planned from now on.

        What was planned meanwhile is not made up for. What executions left is taken back first: it
        may be that which pauses it. Raises `schedule_unknown`, `not_owner`, `not_paused`,
        `cancelled` or `finished`.
        """
        state = await self._check_goes_on(await self._owned(schedule))
        if state is ScheduleState.ACTIVE:
            raise NotNowError(
                "not_paused",
                f"the schedule {schedule} is not paused",
                hint=f"`nexus-tools schedule show {schedule}` says when it begins something next",
            )
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        calls.resume(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    async def cancel(self, schedule: Address) -> Sent:
        """Begin nothing more, and take back the funds and what executions left that have ended.

        Executions that run go on, because they need their funds: cancel these before. Of those that
        were cancelled or are late, all comes back that no invocation under way holds.
        The schedule is deleted with it, unless an execution still runs: `delete` does so
        afterwards. `back_mist` says what came back. Raises `schedule_unknown`, `not_owner` or
        `cancelled`.
        """
        builder, found = TransactionBuilder(), await self._owned(schedule)
        left = await self._collect(builder, schedule)
        if not found.is_cancelled:
            calls.cancel(builder, self.deployment.workflows, schedule)
        elif found.running and not builder.commands:
            raise NotNowError(
                "cancelled",
                f"the schedule {schedule} is cancelled, and"
                f" {count(found.running, 'execution')} of it still to end",
                hint="what they leave comes back in the same way, once they have ended",
            )
        if found.running == left:
            calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    def back_mist(self, sent: Sent) -> int:
        """What the owner got back by `cancel` or `delete`, but for the storage rebate."""
        events = [parse_event(self.deployment, event) for event in sent.events]
        refunds = [each.refund_mist for each in events if isinstance(each, ScheduleCancelled)]
        if refunds:  # what was collected before is in it
            return sum(refunds)
        left = (ScheduleCollected, ExecutionRefunded)
        return sum(each.amount_mist for each in events if isinstance(each, left))

    async def delete(self, schedule: Address) -> Sent:
        """Delete a schedule that is cancelled, for its storage rebate.

        What executions left that have ended is taken back. Raises `schedule_unknown`, `not_owner`,
        `not_cancelled` or `not_collected`.
        """
        await self._owned(schedule)
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    # --- For anyone

    async def refill(self, schedule: Address, amount_mist: int) -> Sent:
        """Add to the funds of what still begins something.

        Raises `schedule_unknown`, `amount_invalid`, `cancelled` or `finished`.
        """
        if amount_mist < 1:
            raise UsageError("amount_invalid", f"{sui(amount_mist)} adds nothing to the funds")
        await self._check_goes_on(await self.get(schedule))
        return await self.pay(calls.refill, schedule, amount_mist=amount_mist)

    async def _owned(self, schedule: Address) -> Schedule:
        """Raises `schedule_unknown` or `not_owner`."""
        found = await self.get(schedule)
        check_orderer(found, self.client.address)
        return found

    async def _check_goes_on(self, schedule: Schedule) -> ScheduleState:
        """Raises `cancelled` or `finished` for what begins nothing more."""
        (standing,) = await read_standings(self, [schedule])
        if standing.state in {ScheduleState.CANCELLED, ScheduleState.FINISHED}:
            raise NotNowError(
                standing.state.value,
                f"the schedule {schedule.id} is {standing.state}: it begins nothing more",
                hint=f"`nexus-tools schedule cancel {schedule.id}` takes back what it has,"
                " and `nexus-tools schedule create` plans anew",
            )
        return standing.state
