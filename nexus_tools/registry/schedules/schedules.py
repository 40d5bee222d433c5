"""Schedules, which start executions of a workflow at planned times or after events."""

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
    Schedule,
    ScheduleCancelled,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleTriggered,
    StandingOrder,
)
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.registry.executions.terms import DEFAULT_STEPS, TermsResolver
from nexus_tools.registry.leaders.leader_registry import LeaderRegistry
from nexus_tools.registry.leaders.listing import LeaderRef
from nexus_tools.registry.pages import PAGE_SIZE, Page
from nexus_tools.registry.preconditions import check_execution_owner
from nexus_tools.registry.schedules.creation import (
    check_funds,
    check_future_times,
    creation,
    make_order,
)
from nexus_tools.registry.schedules.keeping import ScheduleKeeper
from nexus_tools.registry.schedules.overview import ScheduleOverview
from nexus_tools.registry.schedules.reading import (
    read_order,
    read_overviews,
    read_page_of_schedules,
    read_starts,
)
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.support.units import count, sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

DEFAULT_KEEPER_FEE_MIST = 500_000
"""The default fee, in MIST, that a keeper earns for each execution that it starts."""

DEFAULT_MAX_FAILURES = 5
"""The default number of failures in a row after which a schedule pauses."""

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class CreatedSchedule:
    """A created schedule. Each of its executions receives `funds_per_execution_mist`.

    `next_at_ms` is the first planned time, or None for an event schedule. `max_prices_mist` and
    `max_outcome_bytes` are the limits that the caller of `Schedules.create` passed, or the
    defaults.
    """

    schedule: Address
    sent: Sent
    funds_per_execution_mist: int
    next_at_ms: int | None
    leaders: tuple[Address, ...]
    max_prices_mist: Mapping[str, int]
    max_outcome_bytes: int


@validate_arguments
class Schedules(ScheduleKeeper):
    """The schedules of a deployment, for owners and keepers. Anyone may call `refill`."""

    async def create(
        self,
        workflow: PublishedWorkflow,
        inputs: Mapping[str, Any],
        timing: Timing,
        *,
        funds_mist: int,
        funds_per_execution_mist: int | None = None,
        group: str | None = None,
        leaders: Sequence[LeaderRef] = (),
        max_prices_mist: Mapping[str, int] | None = None,
        max_outcome_bytes: int | None = None,
        max_steps: int = DEFAULT_STEPS,
        duration_ms: int = HOUR_MS,
        keeper_fee_mist: int = DEFAULT_KEEPER_FEE_MIST,
        allow_overlap: bool = False,
        max_failures: int = DEFAULT_MAX_FAILURES,
        max_executions: int | None = None,
    ) -> CreatedSchedule:
        """Create a schedule that starts executions of a workflow, paid from `funds_mist`.

        `inputs` and the terms of each execution have the same meaning as in `Executions.start`.
        Each execution receives `funds_per_execution_mist`, by default the recommended amount. Its
        keeper is repaid its costs and earns `keeper_fee_mist`. Without `allow_overlap`, times are
        skipped while an execution runs. The schedule pauses after `max_failures` failures in a row.

        A `max_failures` of 0 disables this pause. All checks run before any payment. Raises
        `no_future_time`, `funds_too_small` if the funds do not cover an execution or its start,
        `invalid_interval`, `invalid_times`, `invalid_event`, `type_invalid`, `amount_too_large`,
        `too_many_entries`, `values_too_large`, and the errors of `Executions.start`.
        """
        await check_future_times(self.client, timing)
        terms = await TermsResolver(self.client, self.deployment).terms(
            workflow,
            inputs,
            group=group,
            leaders=leaders,
            max_prices_mist=max_prices_mist,
            max_outcome_bytes=max_outcome_bytes,
            max_steps=max_steps,
        )
        if funds_per_execution_mist is None:
            funds_per_execution_mist = terms.recommended_mist
        order = make_order(
            terms,
            timing,
            max_steps=max_steps,
            duration_ms=duration_ms,
            funds_per_execution_mist=funds_per_execution_mist,
            keeper_fee_mist=keeper_fee_mist,
            overlaps=allow_overlap,
            max_failures=max_failures,
            max_executions=max_executions,
        )
        await check_funds(self.client, workflow, order, funds_mist, terms.cost.start_mist)
        sent = await self.send(creation(self.deployment, workflow, order, funds_mist))
        created = self.emitted(sent, ScheduleCreated)
        next_ms, funds = created.next_at_ms or None, order.funds_per_execution_mist  # 0: by events
        prices, size = terms.prices_of(workflow), terms.max_outcome_bytes
        return CreatedSchedule(created.schedule, sent, funds, next_ms, terms.leaders, prices, size)

    # --- Reading

    async def order(self, schedule: Address) -> StandingOrder:
        """Return the standing order to which the owner consented. Raises `schedule_unknown`."""
        return await read_order(self, schedule)

    async def list(
        self,
        owner: Address | None = None,
        *,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
    ) -> Page[Schedule]:
        """Return the schedules of an address that are not deleted, newest first.

        The default is the address of the wallet. The schedules are found by their creation events,
        so the result is limited to the events that the node has not pruned.
        """
        return await read_page_of_schedules(self, owner or self.client.address, limit, before)

    async def overview(self, schedule: Address) -> ScheduleOverview:
        """Return the overview of a schedule, with collectable funds. Raises `schedule_unknown`."""
        (overview,) = await read_overviews(self, [await self.get(schedule)])
        return overview

    async def overviews(
        self,
        owner: Address | None = None,
        *,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
    ) -> Page[ScheduleOverview]:
        """Return the overviews of the schedules that `list` returns."""
        page = await self.list(owner, limit=limit, before=before)
        return Page(await read_overviews(self, page.items), page.next)

    async def executions(
        self, schedule: Address, *, limit: int = PAGE_SIZE
    ) -> tuple[ScheduleTriggered, ...]:
        """Return the start events of a schedule's newest executions, newest first.

        Reading stops after 1 000 transactions of the schedule. Raises `schedule_unknown`.
        """
        return await read_starts(self, schedule, limit)

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

        `times` are appended to the list of times, and `until_ms` is a later end of the interval.
        `max_executions` is the new limit, which includes the executions that already started. A
        finished schedule continues. Raises `schedule_unknown`, `not_owner`, `schedule_cancelled`,
        `extension_empty`, `no_future_time`, `no_time_list`, `invalid_times` or `invalid_end`.
        """
        await self._require_owned(schedule)
        builder, target = TransactionBuilder(), (self.deployment.workflows, schedule)
        if times:
            await check_future_times(self.client, Timing(Plan.At(tuple(times)), None))
            calls.add_times(builder, *target, times)
        if until_ms is not None:
            await check_future_times(self.client, Timing(Plan.At((until_ms,)), None))
            calls.extend_until(builder, *target, until_ms)
        if max_executions is not None:
            calls.set_max_executions(builder, *target, max_executions)
        if not builder.commands:
            raise UsageError(
                "extension_empty",
                "expected at least one extension, got none",
                hint="Pass more times, a later end, or more executions.",
            )
        return await self.send(builder)

    async def reset_cursor(self, schedule: Address, leaders: Sequence[LeaderRef] = ()) -> Sent:
        """Accept events from now on, regardless of the last event that a leader reported.

        Pass `leaders` to replace the leaders that report events. Raises `schedule_unknown`,
        `not_owner`, `not_event_schedule`, `schedule_cancelled`, and the errors of `set_leaders`.
        """
        await self._require_owned(schedule)
        builder = TransactionBuilder()
        if leaders:
            await self._add_leaders(builder, schedule, leaders)
        calls.reset_cursor(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    async def set_inputs(self, schedule: Address, vertex: int, values: Mapping[str, Any]) -> Sent:
        """Replace the entry values of a vertex for future executions.

        Raises `schedule_unknown`, `not_owner` or `values_too_large`.
        """
        await self._require_owned(schedule)
        builder, package = TransactionBuilder(), self.deployment.workflows
        calls.set_entry_values(
            builder,
            package,
            schedule,
            vertex,
            make_ports(builder, self.deployment.package, ports_of(values)),
        )
        return await self.send(builder)

    async def set_leaders(self, schedule: Address, leaders: Sequence[LeaderRef]) -> Sent:
        """Let one or two other leaders trigger the schedule and process its future executions.

        Raises `schedule_unknown`, `leader_count_invalid`, `not_owner`, `leader_not_active` or
        `same_leader`.
        """
        await self._require_owned(schedule)
        builder = TransactionBuilder()
        await self._add_leaders(builder, schedule, leaders)
        return await self.send(builder)

    async def _add_leaders(
        self, builder: TransactionBuilder, schedule: Address, leaders: Sequence[LeaderRef]
    ) -> None:
        package = self.deployment.workflows
        match await LeaderRegistry(self.client, self.deployment).ids(leaders):
            case [leader, *backups] if len(backups) <= 1:
                calls.set_leader(builder, package, schedule, leader)
                for backup in backups:
                    calls.set_backup(builder, package, schedule, backup)
            case _:
                raise UsageError(
                    "leader_count_invalid",
                    f"expected one or two leaders, got {len(leaders)}",
                )

    async def pause(self, schedule: Address) -> Sent:
        """Pause a schedule, so that no execution starts until `resume` is called.

        Raises `schedule_unknown`, `not_owner`, `already_paused`, `schedule_cancelled` or
        `schedule_finished`.
        """
        current = await self._require_owned(schedule)
        await self._require_not_ended(current)
        if current.is_paused:
            raise WrongStateError(
                "already_paused",
                f"the schedule {schedule} is already paused",
                hint=f"Run `nexus-tools schedule resume {schedule}` to continue it.",
            )
        return await self.call(calls.pause, schedule)

    async def resume(self, schedule: Address) -> Sent:
        """Continue with the times that are planned from now on.

        Times that passed during the pause are skipped. Ended executions are collected first,
        because their failures may be the reason for the pause. Raises `schedule_unknown`,
        `not_owner`, `not_paused`, `schedule_cancelled` or `schedule_finished`.
        """
        state = await self._require_not_ended(await self._require_owned(schedule))
        if state is ScheduleState.ACTIVE:
            raise WrongStateError(
                "not_paused",
                f"the schedule {schedule} is not paused",
                hint=f"Run `nexus-tools schedule show {schedule}` to see its next start.",
            )
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        calls.resume(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    async def cancel(self, schedule: Address) -> Sent:
        """Cancel the schedule, and withdraw its funds and the funds of ended executions.

        Running executions continue and keep their funds. To withdraw the funds of running
        executions as well, first cancel the executions. A stopped or overdue execution returns the
        funds that its pending invocations do not need. If no execution is running, the transaction
        also deletes the schedule. Otherwise, call `delete` after the last execution has ended.
        `returned_mist` returns the refund. Raises `schedule_unknown`, `not_owner` or
        `schedule_cancelled`.
        """
        builder, current = TransactionBuilder(), await self._require_owned(schedule)
        collected = await self._collect(builder, schedule)
        if not current.is_cancelled:
            calls.cancel(builder, self.deployment.workflows, schedule)
        elif current.running and not builder.commands:
            raise WrongStateError(
                "schedule_cancelled",
                f"the schedule {schedule} is already cancelled and waits for the end of"
                f" {count(current.running, 'execution')}",
                hint="Run the same command later to withdraw their leftover funds.",
            )
        if current.running == collected:
            calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    def returned_mist(self, sent: Sent) -> int:
        """Return the refund of `cancel` or `delete` in MIST, excluding the storage rebate."""
        events = [parse_event(self.deployment, event) for event in sent.events]
        refunds = [event.refund_mist for event in events if isinstance(event, ScheduleCancelled)]
        if refunds:  # the refund includes the funds that this transaction collected
            return sum(refunds)
        refund_kinds = (ScheduleCollected, ExecutionRefunded)
        return sum(event.amount_mist for event in events if isinstance(event, refund_kinds))

    async def delete(self, schedule: Address) -> Sent:
        """Delete a cancelled schedule for its storage rebate.

        The leftover funds of ended executions are returned to the owner. Raises `schedule_unknown`,
        `not_owner`, `schedule_not_cancelled` or `executions_not_collected`.
        """
        await self._require_owned(schedule)
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        calls.delete(builder, self.deployment.workflows, schedule)
        return await self.send(builder)

    # --- For anyone

    async def refill(self, schedule: Address, amount_mist: int) -> Sent:
        """Add to the funds of a schedule that is neither cancelled nor finished.

        Raises `schedule_unknown`, `amount_invalid`, `schedule_cancelled` or `schedule_finished`.
        """
        if amount_mist < 1:
            raise UsageError(
                "amount_invalid", f"the amount must be positive, got {sui(amount_mist)}"
            )
        await self._require_not_ended(await self.get(schedule))
        return await self.pay(calls.refill, schedule, amount_mist=amount_mist)

    async def _require_owned(self, schedule: Address) -> Schedule:
        """Return the schedule if the wallet owns it. Raises `schedule_unknown` or `not_owner`."""
        current = await self.get(schedule)
        check_execution_owner(current, self.client.address)
        return current

    async def _require_not_ended(self, schedule: Schedule) -> ScheduleState:
        """Return the state of a schedule that has not ended.

        Raises `schedule_cancelled` or `schedule_finished`.
        """
        (overview,) = await read_overviews(self, [schedule])
        if overview.state in {ScheduleState.CANCELLED, ScheduleState.FINISHED}:
            raise WrongStateError(
                f"schedule_{overview.state.value}",
                f"the schedule {schedule.id} is {overview.state} and does not start executions",
                hint=f"Run `nexus-tools schedule cancel {schedule.id}` to withdraw its funds, and"
                " `nexus-tools schedule create` to create a new one.",
            )
        return overview.state
