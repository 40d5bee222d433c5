"""The schedules that name this leader, tracked by events, and the times of their checks."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from nexus_tools.contracts import RegistryEvent
from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address

# The events of one transaction arrive one by one.
_GRACE_MS = 200


@dataclass(slots=True, eq=False)
class AssignedSchedule:
    """A schedule that names this leader. Events after the cursor `since` can trigger it.

    `started` contains the schedule's uncollected executions, the oldest first. If `is_searched` is
    True, the list includes executions from before the schedule named this leader. `failed_checks`
    is the number of consecutive checks that should have started an execution but did not.
    """

    id: Address
    since: Cursor
    owner: Address | None = None
    started: dict[Address, None] = field(default_factory=dict)
    is_searched: bool = False
    failed_checks: int = 0


class AssignedSchedules:
    """The schedules that name this leader, updated by events, with the times of their checks.

    `forgotten` is called with a schedule when its awaited events no longer have to be followed, or
    have to be followed from another cursor.
    """

    def __init__(
        self, leader: Address, clock: ChainClock, forgotten: Callable[[Address], None]
    ) -> None:
        self._leader = leader
        self._clock = clock
        self._forgotten = forgotten
        self._assigned: dict[Address, AssignedSchedule] = {}
        self._recorded: set[Address] = set()
        self._schedule_of: dict[Address, AssignedSchedule] = {}
        self._due: dict[AssignedSchedule, int] = {}
        self._busy: set[Address] = set()
        self._changed = asyncio.Event()

    def get(self, schedule: Address) -> AssignedSchedule | None:
        """Return a schedule if it names this leader."""
        return self._assigned.get(schedule)

    def is_tracked(self, subject: bytes) -> bool:
        """Return whether an ID is a schedule in the journal, or an execution of a schedule.

        A schedule stays in the journal until an event reports that it no longer names this leader.
        """
        return subject in self._recorded or subject in self._schedule_of

    def is_named(self, schedule: AssignedSchedule) -> bool:
        """Return whether `schedule` is still the current object of an assigned schedule."""
        return self._assigned.get(schedule.id) is schedule

    def resume(self, schedules: Mapping[Address, Cursor]) -> None:
        """Add schedules that the journal contains, or that a search found, and plan their checks.

        Each schedule has the position from which events count. If a schedule is already assigned,
        the earlier position applies.
        """
        self._recorded.update(schedules)
        for schedule, since in schedules.items():
            entry = self._assigned.setdefault(schedule, AssignedSchedule(schedule, since))
            if since.position < entry.since.position:
                entry.since = since
                self._forgotten(schedule)
            self._plan_check(schedule)

    # --- Event handlers

    def apply(self, event: RegistryEvent, place: Cursor) -> None:
        """Apply an event."""
        self.HANDLERS[type(event)](self, event, place)

    def _created(self, event: moves.ScheduleCreated, place: Cursor) -> None:
        self._leaders_set(event, place)
        if (schedule := self._assigned.get(event.schedule)) is not None:
            schedule.owner = event.owner

    def _leaders_set(
        self, event: moves.ScheduleCreated | moves.ScheduleLeadersChanged, place: Cursor
    ) -> None:
        if self._leader in event.leaders:
            self._recorded.add(event.schedule)
            self._assigned.setdefault(event.schedule, AssignedSchedule(event.schedule, place))
            self._plan_check(event.schedule)
        else:
            self._recorded.discard(event.schedule)
            self.forget(event.schedule)

    def _triggered(self, event: moves.ScheduleTriggered, _place: Cursor) -> None:
        if (schedule := self._assigned.get(event.schedule)) is not None:
            self.record_start(schedule, event.execution)
        self._plan_check(event.schedule)

    def _collected(self, event: moves.ScheduleCollected, _place: Cursor) -> None:
        if (schedule := self._schedule_of.pop(event.execution, None)) is not None:
            del schedule.started[event.execution]
        self._plan_check(event.schedule)

    def _state_changed(
        self,
        event: moves.ScheduleActivityChanged | moves.ScheduleRefilled | moves.ScheduleExtended,
        _place: Cursor,
    ) -> None:
        self._plan_check(event.schedule)

    def _cursor_reset(self, event: moves.ScheduleCursorReset, place: Cursor) -> None:
        """Accept only events after `place` as triggers of the schedule."""
        if (schedule := self._assigned.get(event.schedule)) is not None:
            schedule.since = place
            self._forgotten(schedule.id)
        self._plan_check(event.schedule)

    def _cancelled(self, event: moves.ScheduleCancelled, _place: Cursor) -> None:
        self._recorded.discard(event.schedule)
        self.forget(event.schedule)

    def _ended(self, event: ExecutionEnded, _place: Cursor) -> None:
        if (schedule := self._schedule_of.get(event.execution)) is not None:
            self._plan_check(schedule.id)

    HANDLERS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        moves.ScheduleCreated: _created,
        moves.ScheduleLeadersChanged: _leaders_set,
        moves.ScheduleTriggered: _triggered,
        moves.ScheduleCollected: _collected,
        moves.ScheduleActivityChanged: _state_changed,
        moves.ScheduleRefilled: _state_changed,
        moves.ScheduleExtended: _state_changed,
        moves.ScheduleCursorReset: _cursor_reset,
        moves.ScheduleCancelled: _cancelled,
        ExecutionEnded: _ended,
    }
    """The handler of each type of event."""

    def _plan_check(self, schedule: Address) -> None:
        """Plan a check soon, because an event changed the schedule."""
        if (entry := self._assigned.get(schedule)) is not None:
            entry.failed_checks = 0
            self.plan(entry, self._clock.now_ms() + _GRACE_MS)

    def record_start(self, schedule: AssignedSchedule, execution: Address) -> None:
        """Record that the schedule started an execution."""
        if self.is_named(schedule):
            schedule.started[execution] = None
            self._schedule_of[execution] = schedule

    def record_starts(self, schedule: AssignedSchedule, executions: Iterable[Address]) -> None:
        """Record executions that started before or between the known executions."""
        later = [*schedule.started]
        schedule.started.clear()
        for execution in (*executions, *later):
            self.record_start(schedule, execution)
        schedule.is_searched = True

    def forget(self, schedule: Address) -> None:
        """Forget a schedule that does not name this leader or was cancelled."""
        entry = self._assigned.pop(schedule, None)
        if entry is not None:
            self._due.pop(entry, None)
            for execution in entry.started:
                self._schedule_of.pop(execution, None)
            self._forgotten(schedule)

    # --- Checks

    def plan(self, schedule: AssignedSchedule, at_ms: int) -> None:
        """Plan a check for a time, unless a check is already planned for an earlier time."""
        if self.is_named(schedule):
            self._due[schedule] = min(at_ms, self._due.get(schedule, at_ms))
            self._changed.set()

    def release(self, schedule: AssignedSchedule) -> None:
        """End the check of a schedule, so that `due` may return the schedule again."""
        self._busy.discard(schedule.id)
        self._changed.set()

    async def due(self) -> list[AssignedSchedule]:
        """Wait until schedules are due, and return them in the order of their times.

        Schedules that are being checked are not returned until `release` is called.
        """
        while True:
            self._changed.clear()
            idle = {
                schedule: at for schedule, at in self._due.items() if schedule.id not in self._busy
            }
            now_ms = self._clock.now_ms()
            due = sorted(
                (schedule for schedule in idle if idle[schedule] <= now_ms), key=idle.__getitem__
            )
            if due:
                for schedule in due:
                    del self._due[schedule]
                    self._busy.add(schedule.id)
                return due
            await self._wait_until(min(idle.values(), default=None))

    async def _wait_until(self, at_ms: int | None) -> None:
        """Wait until `at_ms`, or until a schedule has changed."""
        waits: set[asyncio.Task[object]] = {asyncio.create_task(self._changed.wait())}
        if at_ms is not None:
            waits.add(asyncio.create_task(self._clock.wait_until(at_ms)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
