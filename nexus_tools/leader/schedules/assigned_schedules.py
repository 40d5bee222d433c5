"""The schedules that name this leader, as events tell: what each began, and when to look at it."""

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

# The events of one transaction come one after the other.
_GRACE_MS = 200


@dataclass(slots=True, eq=False)
class NamedSchedule:
    """A schedule that names this leader `since` a place.

    `began` is what it has not collected, the oldest first; what it began before it named this
    leader is among it once it `is_searched`. `setbacks` is how often in a row nothing came of a
    look that should have begun something.
    """

    id: Address
    since: Cursor
    owner: Address | None = None
    began: dict[Address, None] = field(default_factory=dict)
    is_searched: bool = False
    setbacks: int = 0


class NamedSchedules:
    """Takes in events, and gives out who is due.

    `forgotten` gets those whose events are not followed any more, or have to be followed anew.
    """

    def __init__(
        self, leader: Address, clock: ChainClock, forgotten: Callable[[Address], None]
    ) -> None:
        self._leader = leader
        self._clock = clock
        self._forgotten = forgotten
        self._named: dict[Address, NamedSchedule] = {}
        self._beginners: dict[Address, NamedSchedule] = {}
        self._due: dict[NamedSchedule, int] = {}
        self._busy: set[Address] = set()
        self._changed = asyncio.Event()

    def get(self, schedule: Address) -> NamedSchedule | None:
        """A schedule, if it names this leader."""
        return self._named.get(schedule)

    def is_named(self, schedule: NamedSchedule) -> bool:
        """Whether it has not been forgotten, or was taken up anew since."""
        return self._named.get(schedule.id) is schedule

    # --- What events mean

    def take(self, event: RegistryEvent, place: Cursor) -> None:
        """Take in what an event tells."""
        self.MEANINGS[type(event)](self, event, place)

    def _created(self, event: moves.ScheduleCreated, place: Cursor) -> None:
        self._named_by(event, place)
        if (schedule := self._named.get(event.schedule)) is not None:
            schedule.owner = event.owner

    def _named_by(
        self, event: moves.ScheduleCreated | moves.ScheduleLeadersChanged, place: Cursor
    ) -> None:
        if self._leader in event.leaders:
            self._named.setdefault(event.schedule, NamedSchedule(event.schedule, place))
            self._soon(event.schedule)
        else:
            self.forget(event.schedule)

    def _triggered(self, event: moves.ScheduleTriggered, _place: Cursor) -> None:
        if (schedule := self._named.get(event.schedule)) is not None:
            self.note(schedule, event.execution)
        self._soon(event.schedule)

    def _collected(self, event: moves.ScheduleCollected, _place: Cursor) -> None:
        if (schedule := self._beginners.pop(event.execution, None)) is not None:
            del schedule.began[event.execution]
        self._soon(event.schedule)

    def _changed_by(
        self,
        event: moves.ScheduleActivityChanged | moves.ScheduleRefilled | moves.ScheduleExtended,
        _place: Cursor,
    ) -> None:
        self._soon(event.schedule)

    def _cursor_reset(self, event: moves.ScheduleCursorReset, place: Cursor) -> None:
        """Follow events anew, from here on."""
        if (schedule := self._named.get(event.schedule)) is not None:
            schedule.since = place
            self._forgotten(schedule.id)
        self._soon(event.schedule)

    def _cancelled(self, event: moves.ScheduleCancelled, _place: Cursor) -> None:
        self.forget(event.schedule)

    def _ended(self, event: ExecutionEnded, _place: Cursor) -> None:
        if (schedule := self._beginners.get(event.execution)) is not None:
            self._soon(schedule.id)

    MEANINGS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        moves.ScheduleCreated: _created,
        moves.ScheduleLeadersChanged: _named_by,
        moves.ScheduleTriggered: _triggered,
        moves.ScheduleCollected: _collected,
        moves.ScheduleActivityChanged: _changed_by,
        moves.ScheduleRefilled: _changed_by,
        moves.ScheduleExtended: _changed_by,
        moves.ScheduleCursorReset: _cursor_reset,
        moves.ScheduleCancelled: _cancelled,
        ExecutionEnded: _ended,
    }
    """What each kind of event means."""

    def _soon(self, schedule: Address) -> None:
        """Something new is known of it."""
        if (named := self._named.get(schedule)) is not None:
            named.setbacks = 0
            self.plan(named, self._clock.now_ms() + _GRACE_MS)

    def note(self, schedule: NamedSchedule, execution: Address) -> None:
        """It began this execution."""
        if self.is_named(schedule):
            schedule.began[execution] = None
            self._beginners[execution] = schedule

    def note_all(self, schedule: NamedSchedule, executions: Iterable[Address]) -> None:
        """It began these executions before the others that are known, or among them."""
        later = [*schedule.began]
        schedule.began.clear()
        for execution in (*executions, *later):
            self.note(schedule, execution)
        schedule.is_searched = True

    def forget(self, schedule: Address) -> None:
        """It does not name this leader, or begins nothing more."""
        named = self._named.pop(schedule, None)
        if named is not None:
            self._due.pop(named, None)
            for execution in named.began:
                self._beginners.pop(execution, None)
            self._forgotten(schedule)

    # --- When to look at which

    def plan(self, schedule: NamedSchedule, at_ms: int) -> None:
        """Look at it then, or earlier if that is planned already."""
        if self.is_named(schedule):
            self._due[schedule] = min(at_ms, self._due.get(schedule, at_ms))
            self._changed.set()

    def release(self, schedule: NamedSchedule) -> None:
        """It was looked at: it may be given out again."""
        self._busy.discard(schedule.id)
        self._changed.set()

    async def due(self) -> list[NamedSchedule]:
        """Those that are due, once one is, the first one first; none that is looked at now."""
        while True:
            self._changed.clear()
            idle = {each: at for each, at in self._due.items() if each.id not in self._busy}
            now_ms = self._clock.now_ms()
            due = sorted((each for each in idle if idle[each] <= now_ms), key=idle.__getitem__)
            if due:
                for each in due:
                    del self._due[each]
                    self._busy.add(each.id)
                return due
            await self._until(min(idle.values(), default=None))

    async def _until(self, at_ms: int | None) -> None:
        """Return at that time, or when something has changed."""
        waits: set[asyncio.Task[object]] = {asyncio.create_task(self._changed.wait())}
        if at_ms is not None:
            waits.add(asyncio.create_task(self._clock.wait_until(at_ms)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
