"""How a schedule stands, once what its executions left that have ended is collected.

Until somebody collects it, the chain counts what has ended as running. Who looks is told what
follows as soon as it does. Source: `schedule.move` and `timing.move`.
"""

from dataclasses import dataclass

from nexus_tools.contracts import ScheduleState
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Order, Schedule
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry.schedules.costs import trigger_mist
from nexus_tools.registry.schedules.cron import MAX_TIMES
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.workflow import Status


@dataclass(frozen=True, slots=True)
class Left:
    """An execution that has ended and is not collected; `ended_at_ms` is its deadline at most."""

    execution: Execution
    status: Status
    ended_at_ms: int


def is_stopped(execution: Execution) -> bool:
    """Return whether an execution goes on no more, and has funds that nothing needs."""
    return execution.walks.ending is not None and execution.funds > 0


@dataclass(frozen=True, slots=True)
class ScheduleStanding:
    """A schedule, to what its owner consented, and what it began that is not collected.

    Of that, `left` has ended, and `running` goes on; both have the oldest first.
    """

    schedule: Schedule
    order: Order
    workflow: PublishedWorkflow
    left: tuple[Left, ...]
    running: tuple[Execution, ...]
    now_ms: int
    gas_price: int

    @property
    def funds_mist(self) -> int:
        """What it has, with what is to be collected."""
        return self.schedule.funds_mist + self.to_collect_mist

    @property
    def to_collect_mist(self) -> int:
        """What executions left that have ended, and what those do not need that were stopped."""
        stopped_mist = sum(each.funds for each in self.running if is_stopped(each))
        return sum(each.execution.funds for each in self.left) + stopped_mist

    @property
    def needed_mist(self) -> int:
        """What it has to have for the next execution."""
        return trigger_mist(self.order, self.workflow, self.gas_price)

    @property
    def is_funded(self) -> bool:
        """Whether it has enough for the next execution, once what has ended is collected."""
        return self.funds_mist >= self.needed_mist

    @property
    def lacks_mist(self) -> int:
        """What the next execution lacks, even if those that run spend nothing more."""
        coming_mist = sum(each.funds for each in self.running if not is_stopped(each))
        return max(self.needed_mist - self.funds_mist - coming_mist, 0)

    @property
    def is_by_event(self) -> bool:
        """Whether it is events that make something due."""
        return isinstance(self.order.timing.plan, Plan.OnEvent)

    @property
    def missed(self) -> int:
        """How many planned times have passed for which no execution starts any more."""
        planned_at_ms = self._planned_at_ms
        if planned_at_ms is None or planned_at_ms > self.now_ms or self.is_by_event:
            return 0
        if self.state is not ScheduleState.ACTIVE or self._skips:
            return 0
        timing = self.order.timing
        passed = _passed(timing, planned_at_ms, self.now_ms)[1]
        return passed if _is_too_late(timing, planned_at_ms, self.now_ms) else passed - 1

    @property
    def times_left(self) -> tuple[int, ...]:
        """The planned times of a list that are not done with; of another plan, none."""
        plan, next_at_ms = self.order.timing.plan, self.schedule.next_at_ms
        if not isinstance(plan, Plan.At) or next_at_ms is None:
            return ()
        return tuple(time for time in plan.times if time >= next_at_ms)

    @property
    def room(self) -> int:
        """How many times can be added to a list."""
        return MAX_TIMES - len(self.times_left)

    @property
    def state(self) -> ScheduleState:
        """Whether it begins executions."""
        state = schedule_state(self.schedule, self.order)
        if state in {ScheduleState.CANCELLED, ScheduleState.FINISHED}:
            return state
        if self.next_at_ms is None and not self.is_by_event:
            return ScheduleState.FINISHED
        return ScheduleState.PAUSED if self._failures[1] else state

    @property
    def failures(self) -> int:
        """How many executions failed in a row."""
        return self._failures[0]

    @property
    def _failures(self) -> tuple[int, bool]:
        """How many failed in a row, and whether they were too many."""
        failures, too_many = self.schedule.failures, False
        for each in self.left:
            if each.status is Status.COMPLETED:
                failures = 0
            elif each.status is not Status.CANCELLED:
                failures += 1
                too_many |= failures == self.order.max_failures
        return failures, too_many

    @property
    def next_at_ms(self) -> int | None:
        """When it may begin something next; it is due if that has passed.

        None if nothing is planned, or if the next event counts, whenever it is told.
        """
        planned_at_ms = self._planned_at_ms
        if planned_at_ms is None or planned_at_ms > self.now_ms:
            return planned_at_ms
        if self.is_by_event:
            return None
        if self._skips or _is_too_late(self.order.timing, planned_at_ms, self.now_ms):
            return next_planned(self.order.timing, self.now_ms + 1)
        return planned_at_ms

    @property
    def _skips(self) -> bool:
        """Whether an execution runs, and the times that pass meanwhile are skipped."""
        return bool(self.running) and not self.order.overlaps

    @property
    def _planned_at_ms(self) -> int | None:
        """The first planned time that is not done with."""
        over = {ScheduleState.CANCELLED, ScheduleState.FINISHED}
        if schedule_state(self.schedule, self.order) in over:
            return None
        planned_at_ms = self.schedule.next_at_ms
        for each in () if self.order.overlaps else self.left:
            if planned_at_ms is not None and planned_at_ms <= each.ended_at_ms:
                planned_at_ms = next_planned(self.order.timing, each.ended_at_ms + 1)
        return planned_at_ms


def schedule_state(schedule: Schedule, order: Order) -> ScheduleState:
    """Whether a schedule begins executions; one that began as many as it may is finished."""
    used_up = order.max_executions is not None and schedule.begun >= order.max_executions
    if used_up and not schedule.is_cancelled:
        return ScheduleState.FINISHED
    return schedule.state


def next_planned(timing: Timing, from_ms: int) -> int | None:
    """The first planned time that is not before then; of events, that time."""
    match timing.plan:
        case Plan.Every(interval_ms, first_at_ms, until_ms):
            interval_ms = max(interval_ms, 1)  # who has 0 is refused by the chain
            passed_ms = max(from_ms, first_at_ms) - first_at_ms
            planned_at_ms = first_at_ms - (-passed_ms // interval_ms) * interval_ms
            is_over = until_ms is not None and planned_at_ms > until_ms
            return None if is_over else planned_at_ms
        case Plan.At(times):
            return next((time for time in times if time >= from_ms), None)
        case Plan.OnEvent():
            return from_ms


def _is_too_late(timing: Timing, next_at_ms: int, now_ms: int) -> bool:
    """Whether the last of the times that have passed is missed."""
    if timing.max_late_ms is None:
        return False
    return now_ms - _passed(timing, next_at_ms, now_ms)[0] > timing.max_late_ms


def _passed(timing: Timing, next_at_ms: int, now_ms: int) -> tuple[int, int]:
    """Return the last planned time from `next_at_ms` to now, and how many there are."""
    match timing.plan:
        case Plan.Every(interval_ms, _, until_ms):
            last_ms = now_ms if until_ms is None else min(until_ms, now_ms)
            before = (last_ms - next_at_ms) // interval_ms
            return next_at_ms + before * interval_ms, before + 1
        case Plan.At(times):
            passed = [time for time in times if next_at_ms <= time <= now_ms]
            return passed[-1], len(passed)
        case Plan.OnEvent():
            return next_at_ms, 1
