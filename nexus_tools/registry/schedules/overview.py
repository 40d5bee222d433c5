"""The effective state of a schedule, as if its ended executions were already collected.

Until a keeper collects an ended execution, the chain counts the execution as running. The values in
this module show the state after the collection. Source: `schedule.move` and `timing.move`.
"""

from dataclasses import dataclass

from nexus_tools.contracts import ScheduleState
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule, StandingOrder
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry.schedules.costs import trigger_cost_mist
from nexus_tools.registry.schedules.cron import MAX_TIMES
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support.units import count, duration, utc
from nexus_tools.workflow import Status


@dataclass(frozen=True, slots=True)
class EndedExecution:
    """An ended, uncollected execution. `ended_at_ms` is not after its deadline."""

    execution: Execution
    status: Status
    ended_at_ms: int


def is_stopped(execution: Execution) -> bool:
    """Return whether an execution is ending early and has funds that it no longer needs."""
    return execution.progress.ending is not None and execution.funds > 0


@dataclass(frozen=True, slots=True)
class ScheduleOverview:
    """A schedule, its standing order, and its uncollected executions.

    `ended` and `running` together contain all uncollected executions. Both are sorted from the
    oldest to the newest execution.
    """

    schedule: Schedule
    order: StandingOrder
    workflow: PublishedWorkflow
    ended: tuple[EndedExecution, ...]
    running: tuple[Execution, ...]
    now_ms: int
    gas_price: int

    @property
    def funds_mist(self) -> int:
        """The funds in MIST, including the funds that can be collected."""
        return self.schedule.funds_mist + self.collectable_mist

    @property
    def collectable_mist(self) -> int:
        """The funds of ended executions, and the unneeded funds of stopped executions, in MIST."""
        stopped_mist = sum(execution.funds for execution in self.running if is_stopped(execution))
        return sum(entry.execution.funds for entry in self.ended) + stopped_mist

    @property
    def needed_mist(self) -> int:
        """The funds in MIST that the next execution needs."""
        return trigger_cost_mist(self.order, self.workflow, self.gas_price)

    @property
    def is_funded(self) -> bool:
        """Whether the funds, including collectable funds, cover the next execution."""
        return self.funds_mist >= self.needed_mist

    @property
    def shortfall_mist(self) -> int:
        """The missing funds of the next execution in MIST, if running executions spend no more."""
        expected_mist = sum(
            execution.funds for execution in self.running if not is_stopped(execution)
        )
        return max(self.needed_mist - self.funds_mist - expected_mist, 0)

    @property
    def is_by_event(self) -> bool:
        """Whether events trigger the executions."""
        return isinstance(self.order.timing.plan, Plan.OnEvent)

    @property
    def missed(self) -> int:
        """The number of past planned times for which no execution will start."""
        planned_at_ms = self._planned_at_ms
        if planned_at_ms is None or planned_at_ms > self.now_ms or self.is_by_event:
            return 0
        if self.state is not ScheduleState.ACTIVE or self._skips:
            return 0
        timing = self.order.timing
        passed = _passed(timing, planned_at_ms, self.now_ms)[1]
        return passed if _is_too_late(timing, planned_at_ms, self.now_ms) else passed - 1

    @property
    def remaining_times(self) -> tuple[int, ...]:
        """The remaining planned times of a list of times, or an empty tuple for other plans."""
        plan, next_at_ms = self.order.timing.plan, self.schedule.next_at_ms
        if not isinstance(plan, Plan.At) or next_at_ms is None:
            return ()
        return tuple(time for time in plan.times if time >= next_at_ms)

    @property
    def free_times(self) -> int:
        """The number of times that can be added to a list of times."""
        return MAX_TIMES - len(self.remaining_times)

    @property
    def state(self) -> ScheduleState:
        """The state of the schedule: active, paused, cancelled or finished."""
        state = schedule_state(self.schedule, self.order)
        if state in {ScheduleState.CANCELLED, ScheduleState.FINISHED}:
            return state
        if self.next_at_ms is None and not self.is_by_event:
            return ScheduleState.FINISHED
        return ScheduleState.PAUSED if self._failures[1] else state

    @property
    def failures(self) -> int:
        """The number of failed executions in a row."""
        return self._failures[0]

    @property
    def _failures(self) -> tuple[int, bool]:
        """The number of failed executions in a row, and whether it has reached the limit."""
        failures, too_many = self.schedule.failures, False
        for entry in self.ended:
            if entry.status is Status.COMPLETED:
                failures = 0
            elif entry.status is not Status.CANCELLED:
                failures += 1
                too_many |= failures == self.order.max_failures
        return failures, too_many

    @property
    def next_at_ms(self) -> int | None:
        """The time of the next possible start. If this time has passed, an execution is due.

        The value is None if no time is planned, or if the schedule can start at its next event.
        """
        planned_at_ms = self._planned_at_ms
        if planned_at_ms is None or planned_at_ms > self.now_ms:
            return planned_at_ms
        if self.is_by_event:
            return None
        if self._skips or _is_too_late(self.order.timing, planned_at_ms, self.now_ms):
            return next_planned_time(self.order.timing, self.now_ms + 1)
        return planned_at_ms

    def next_times(self, limit: int) -> tuple[int, ...]:
        """Return the next planned times, at most `limit`, or nothing if events trigger it."""
        times: list[int] = []
        time_ms = None if self.is_by_event else self.next_at_ms
        while time_ms is not None and len(times) < limit:
            times.append(time_ms)
            time_ms = next_planned_time(self.order.timing, time_ms + 1)
        return tuple(times)

    @property
    def _skips(self) -> bool:
        """Whether a running execution makes the schedule skip planned times."""
        return bool(self.running) and not self.order.overlaps

    @property
    def _planned_at_ms(self) -> int | None:
        """The first planned time that has not been used or skipped."""
        final_states = {ScheduleState.CANCELLED, ScheduleState.FINISHED}
        if schedule_state(self.schedule, self.order) in final_states:
            return None
        planned_at_ms = self.schedule.next_at_ms
        for entry in () if self.order.overlaps else self.ended:
            if planned_at_ms is not None and planned_at_ms <= entry.ended_at_ms:
                planned_at_ms = next_planned_time(self.order.timing, entry.ended_at_ms + 1)
        return planned_at_ms


def describe_timing(timing: Timing) -> str:
    """Return a text that says when a schedule starts executions. It may quote untrusted text."""
    match timing.plan:
        case Plan.Every(interval_ms, _, until_ms):
            end = f", until {utc(until_ms)}" if until_ms is not None else ""
            return f"every {duration(interval_ms)}{end}"
        case Plan.At(times):
            return f"at {count(len(times), 'time')}, the last one {utc(times[-1])}"
        case Plan.OnEvent(event, pause_ms, max_per_day):
            pause = f"at most once every {duration(pause_ms)}"
            return f"on {event}, {pause} and {count(max_per_day, 'time')} a day"


def schedule_state(schedule: Schedule, order: StandingOrder) -> ScheduleState:
    """Return the state of a schedule, which is `FINISHED` after the last allowed execution."""
    used_up = order.max_executions is not None and schedule.started >= order.max_executions
    if used_up and not schedule.is_cancelled:
        return ScheduleState.FINISHED
    return schedule.state


def next_planned_time(timing: Timing, from_ms: int) -> int | None:
    """Return the first planned time from `from_ms` on, or `from_ms` for an event schedule."""
    match timing.plan:
        case Plan.Every(interval_ms, first_at_ms, until_ms):
            interval_ms = max(interval_ms, 1)  # The chain refuses 0.
            # Round up to the next multiple: -(-a // b) is the ceiling of a / b.
            passed_ms = max(from_ms, first_at_ms) - first_at_ms
            planned_at_ms = first_at_ms - (-passed_ms // interval_ms) * interval_ms
            is_over = until_ms is not None and planned_at_ms > until_ms
            return None if is_over else planned_at_ms
        case Plan.At(times):
            return next((time for time in times if time >= from_ms), None)
        case Plan.OnEvent():
            return from_ms


def _is_too_late(timing: Timing, next_at_ms: int, now_ms: int) -> bool:
    """Return whether even the latest past planned time is more than `max_late_ms` ago."""
    if timing.max_late_ms is None:
        return False
    return now_ms - _passed(timing, next_at_ms, now_ms)[0] > timing.max_late_ms


def _passed(timing: Timing, next_at_ms: int, now_ms: int) -> tuple[int, int]:
    """Return the last planned time between `next_at_ms` and now, and the number of these times."""
    match timing.plan:
        case Plan.Every(interval_ms, _, until_ms):
            last_ms = now_ms if until_ms is None else min(until_ms, now_ms)
            intervals = (last_ms - next_at_ms) // interval_ms
            return next_at_ms + intervals * interval_ms, intervals + 1
        case Plan.At(times):
            passed = [time for time in times if next_at_ms <= time <= now_ms]
            return passed[-1], len(passed)
        case Plan.OnEvent():
            return next_at_ms, 1
