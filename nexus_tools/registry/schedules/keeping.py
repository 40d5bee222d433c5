"""Operations on schedules for keepers: trigger executions, and collect leftover funds."""

from collections.abc import Sequence

from nexus_tools.contracts import PackageClient, Sent
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as calls
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import WrongStateError
from nexus_tools.registry.executions.cleanup import add_due_advances
from nexus_tools.registry.schedules.overview import is_stopped
from nexus_tools.registry.schedules.reading import (
    is_late,
    is_over,
    read_order,
    read_uncollected,
    schedule_unknown_error,
)
from nexus_tools.sui.client import Cursor as EventCursor
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address


@validate_arguments
class ScheduleKeeper(PackageClient):
    """Schedule operations for keepers. The workers of a schedule's leaders have priority."""

    async def get(self, schedule: Address) -> Schedule:
        """Return the current state of a schedule. Raises `schedule_unknown`."""
        current = self.decode(await self.client.object(schedule), Schedule)
        if current is None:
            raise schedule_unknown_error(self, schedule)
        return current

    async def uncollected(self, schedule: Address) -> tuple[Execution, ...]:
        """Return the uncollected executions of a schedule, oldest first."""
        return await read_uncollected(self, schedule)

    async def collect(self, schedule: Address) -> Sent:
        """Return the leftover funds of ended, stopped or overdue executions to the schedule.

        If an execution has not ended, its pending invocations keep their payment. Call `collect`
        again after these invocations are closed. Raises `nothing_to_collect`.
        """
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        if not builder.commands:
            raise WrongStateError(
                "nothing_to_collect",
                f"the schedule {schedule} does not have ended executions with funds to collect",
            )
        return await self.send(builder)

    async def _collect(self, builder: TransactionBuilder, schedule: Address) -> int:
        """Add all possible collections, and return how many executions end or have ended."""
        started, collected = await self.uncollected(schedule), 0
        for execution in started:
            if execution.progress.in_flight:
                collected += await self._add_end(builder, schedule, execution)
        idle = [execution for execution in started if not execution.progress.in_flight]
        return collected + await self._add_collects(builder, schedule, idle)

    async def _add_end(
        self, builder: TransactionBuilder, schedule: Address, execution: Execution
    ) -> bool:
        """Collect the funds of a stopped or overdue execution that pending invocations do not need.

        Invocations past their deadline expire in this transaction. Return whether the execution
        ends.
        """
        goes_on, package = execution.progress.ending is None, self.deployment.workflows
        if goes_on and not await is_late(self, execution):
            return False
        if goes_on:
            executions.expire(builder, package, execution.id)
        due = await add_due_advances(self, builder, execution)
        if goes_on or due or execution.funds:
            calls.collect(builder, package, schedule, execution.id)
        return due == execution.progress.in_flight

    async def _add_collects(
        self, builder: TransactionBuilder, schedule: Address, began: Sequence[Execution]
    ) -> int:
        """Collect ended and overdue executions, and return their number.

        An overdue execution is collected only if it has no pending invocations. A stopped execution
        is also collected, but not counted unless it has ended.
        """
        package, collected = self.deployment.workflows, 0
        for execution in began:
            has_ended = await is_over(self, execution)
            if has_ended and execution.ended_at_ms is None:
                executions.expire(builder, package, execution.id)
            if has_ended or is_stopped(execution):
                calls.collect(builder, package, schedule, execution.id)
            collected += has_ended
        return collected

    async def trigger(self, schedule: Address, leader: Address | None = None) -> Sent:
        """Start the due execution of a schedule, for which the wallet earns the keeper fee.

        Ended executions are collected first. If `leader` is a leader of the schedule, its workers
        can start the execution in the leader's time window. Without `leader`, anyone can start it
        after all windows. No execution starts if none is due, if another execution runs, or if the
        funds are insufficient. No error is raised in this case, but the events do not contain
        `ScheduleTriggered`.

        Raises `schedule_unknown`, `leader_not_listed`, `not_worker`, `event_schedule`,
        `wrong_version` or `not_accepting`.
        """
        builder = TransactionBuilder()
        current, uncollected = await self.get(schedule), await self.uncollected(schedule)
        await self.add_trigger(builder, current, leader, uncollected)
        return await self.send(builder)

    async def add_trigger(
        self,
        builder: TransactionBuilder,
        schedule: Schedule,
        leader: Address | None,
        began: Sequence[Execution],
        event: EventCursor | None = None,
    ) -> None:
        """Add the commands of `trigger`, or of `trigger_by_event` if `event` is passed.

        `began` are the uncollected executions of the schedule. An `event` requires a `leader`.
        """
        await self._add_collects(builder, schedule.id, began)
        package, registry = self.deployment.workflows, self.deployment.leader_registry
        target = builder, package, schedule.id, registry, schedule.dag
        if leader is None:
            calls.trigger_by_anyone(*target, await self._able_leader(schedule.id))
        elif event is None:
            calls.trigger(*target, leader)
        else:
            calls.trigger_by_event(*target, leader, *event.position)

    async def _able_leader(self, schedule: Address) -> Address:
        """Return the first active leader of the schedule, or its first leader if none is active."""
        leader_ids = (await read_order(self, schedule)).terms.leaders
        leaders = await self.find_all(leader_ids, Leader)
        active = (leader.id for leader in leaders if leader is not None and leader.is_active)
        return next(active, leader_ids[0])

    async def trigger_by_event(
        self, schedule: Address, leader: Address, event: EventCursor
    ) -> Sent:
        """Start an execution for an event, as a worker of one of the schedule's leaders.

        No execution starts if this event or a later event was already reported, or in the cases
        that `trigger` describes. Raises `schedule_unknown`, `leader_not_listed`, `not_worker`,
        `not_event_schedule`, `wrong_version` or `not_accepting`.
        """
        builder = TransactionBuilder()
        current, uncollected = await self.get(schedule), await self.uncollected(schedule)
        await self.add_trigger(builder, current, leader, uncollected, event)
        return await self.send(builder)
