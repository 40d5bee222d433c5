"""Triggering schedules, and collecting what their executions left: anyone may."""

from collections.abc import Sequence

from nexus_tools.contracts import PackageClient, Sent
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as calls
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import NotNowError
from nexus_tools.registry.executions.cleanup import add_due
from nexus_tools.registry.schedules.overview import is_stopped
from nexus_tools.registry.schedules.reading import (
    is_late,
    is_over,
    read_order,
    read_uncollected,
    schedule_unknown,
)
from nexus_tools.sui.client import Cursor as EventCursor
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address


@checks_arguments
class ScheduleKeeping(PackageClient):
    """Verbs on schedules for keepers: a leader's workers first, and then anyone."""

    async def get(self, schedule: Address) -> Schedule:
        """A schedule as it is now. Raises `schedule_unknown`."""
        found = self.decoded(await self.client.object(schedule), Schedule)
        if found is None:
            raise schedule_unknown(self, schedule)
        return found

    async def uncollected(self, schedule: Address) -> tuple[Execution, ...]:
        """The executions of a schedule that are not collected, the oldest first."""
        return (await read_uncollected(self, [schedule]))[schedule]

    async def collect(self, schedule: Address) -> Sent:
        """Let the funds of executions flow back that have ended or go on no more.

        Of those that have not ended, invocations under way keep their payment: collect again once
        these are closed. Raises `nothing_to_collect`.
        """
        builder = TransactionBuilder()
        await self._collect(builder, schedule)
        if not builder.commands:
            raise NotNowError(
                "nothing_to_collect", f"no execution of the schedule {schedule} has ended since"
            )
        return await self.send(builder)

    async def _collect(self, builder: TransactionBuilder, schedule: Address) -> int:
        """Collect all that can be; how many executions have ended then."""
        began, collected = await self.uncollected(schedule), 0
        for execution in began:
            if execution.walks.under_way:
                collected += await self._add_end(builder, schedule, execution)
        others = [each for each in began if not each.walks.under_way]
        return collected + await self._add_collects(builder, schedule, others)

    async def _add_end(
        self, builder: TransactionBuilder, schedule: Address, execution: Execution
    ) -> bool:
        """Collect what an execution does not need that was stopped or is late.

        What nobody closed in time expires with it. Return whether the execution ends by this.
        """
        goes_on, package = execution.walks.ending is None, self.deployment.workflows
        if goes_on and not await is_late(self, execution):
            return False
        if goes_on:
            executions.expire(builder, package, execution.id)
        due = await add_due(self, builder, execution)
        if goes_on or due or execution.funds:
            calls.collect(builder, package, schedule, execution.id)
        return due == execution.walks.under_way

    async def _add_collects(
        self, builder: TransactionBuilder, schedule: Address, began: Sequence[Execution]
    ) -> int:
        """Collect what has ended, or is late and ends by this; how many executions that were.

        Of what was stopped, collect the funds that no invocation under way holds.
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
        event: EventCursor | None = None,
    ) -> None:
        """The commands of `trigger`; of what it `began`, what has ended is collected first.

        With an `event`, those of `trigger_by_event`, which needs a leader.
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
        """An active leader that the schedule names; the first one if none is active."""
        named = (await read_order(self, schedule)).terms.leaders
        found = await self.find_all(named, Leader)
        active = (each.id for each in found if each is not None and each.is_active)
        return next(active, named[0])

    async def trigger_by_event(
        self, schedule: Address, leader: Address, event: EventCursor
    ) -> Sent:
        """As a worker of a leader that the schedule names, begin an execution for an event.

        Nothing happens, without an error, if this event or a later one was told before, and as
        `trigger` says. Raises `schedule_unknown`, `not_named`, `not_worker`, `not_by_event`,
        `wrong_version` or `not_accepting`.
        """
        builder = TransactionBuilder()
        found, began = await self.get(schedule), await self.uncollected(schedule)
        await self.add_trigger(builder, found, leader, began, event)
        return await self.send(builder)
