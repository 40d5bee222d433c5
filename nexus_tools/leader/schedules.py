"""The schedules that name this leader: begins what is due, and is paid for it.

What is due when, the chain says: a transaction that would begin nothing, or cost more than it pays,
is simulated and not sent. The chain cannot see events: what those make due, leaders say.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from nexus_tools.client import Cursor, EventRecord, past_events
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.leader.awaited_events import AwaitedEvents
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.event_page import EventPage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.triggers import Triggers
from nexus_tools.logs import get_logger, in_short
from nexus_tools.package import RegistryEvent, ScheduleState, event_filter, parse_event
from nexus_tools.package.move.workflows import schedule as moves
from nexus_tools.package.move.workflows.execution import Execution, ExecutionEnded
from nexus_tools.package.move.workflows.timing import Plan
from nexus_tools.registry import schedule_state
from nexus_tools.sui.address import Address

_log = get_logger("nexus_tools.leader")

# The events of one transaction come one after the other.
_GRACE_MS = 200
# schedule::WINDOW_MS
_WINDOW_MS = 10_000
# What could not begin is looked at again so much later, unless an event says more.
_LATER_MS = 60_000


class Schedules:
    """One task, which sleeps until something is due, and one for each event that is awaited."""

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        chain: Chain,
        triggers: Triggers,
        *,
        clock: ChainClock,
        metrics: LeaderMetrics,
    ) -> None:
        self._config = config
        self._chain = chain
        self._triggers = triggers
        self._clock = clock
        self._metrics = metrics
        self._awaited = AwaitedEvents(config, group, chain, self._told, metrics)
        self._due: dict[Address, int] = {}
        self._named: dict[Address, Cursor] = {}
        self._began: defaultdict[Address, set[Address]] = defaultdict(set)
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Find what there is, and then do what is due, without end."""
        try:
            await self._search()
            while True:
                await self._do(await self._next())
        finally:
            self._awaited.stop()

    async def _do(self, schedule: Address) -> None:
        at_ms = self._due.pop(schedule)
        try:
            await self._look(schedule)
        except UnreachableError:
            self._due.setdefault(schedule, at_ms)
            await asyncio.sleep(self._config.trouble_pause_ms / 1000)
        except NexusError as error:
            self._metrics.trouble.labels("schedules").inc()
            _log.warning("schedule_postponed", schedule=str(schedule), error=in_short(error))
            self._plan(schedule, self._clock.now_ms() + _LATER_MS)

    async def _search(self) -> None:
        """Take in what events told before, as far as the node has them."""
        kinds = event_filter(self._chain.deployment, *self._MEANINGS)
        while True:
            try:
                async for record in past_events(self._chain.client, kinds):
                    event = parse_event(self._chain.deployment, record.event)
                    if event is not None:
                        self._take(event, record.cursor)
            except UnreachableError:
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            else:
                return

    async def _next(self) -> Address:
        """The schedule that is due first, once it is."""
        while True:
            self._changed.clear()
            if not self._due:
                await self._changed.wait()
                continue
            schedule, at_ms = min(self._due.items(), key=lambda item: item[1])
            if at_ms <= self._clock.now_ms():
                return schedule
            waits: set[asyncio.Task[object]] = {
                asyncio.create_task(self._changed.wait()),
                asyncio.create_task(self._clock.wait_until(at_ms)),
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()

    # --- What events mean

    def observe(self, page: EventPage) -> None:
        """Take in what events tell."""
        for event, place in page.schedules:
            self._take(event, place)

    def _take(self, event: RegistryEvent, place: Cursor) -> None:
        self._MEANINGS[type(event)](self, event, place)

    def _named_by(
        self, event: moves.ScheduleCreated | moves.ScheduleLeadersChanged, place: Cursor
    ) -> None:
        if self._chain.leader in event.leaders:
            self._named.setdefault(event.schedule, place)
            self._soon(event.schedule)
        else:
            self._forget(event.schedule)

    def _triggered(self, event: moves.ScheduleTriggered, _place: Cursor) -> None:
        self._began[event.schedule].add(event.execution)
        self._soon(event.schedule)

    def _collected(self, event: moves.ScheduleCollected, _place: Cursor) -> None:
        self._began[event.schedule].discard(event.execution)
        self._soon(event.schedule)

    def _changed_by(
        self, event: moves.ScheduleActivityChanged | moves.ScheduleRefilled, _place: Cursor
    ) -> None:
        self._soon(event.schedule)

    def _cancelled(self, event: moves.ScheduleCancelled, _place: Cursor) -> None:
        self._forget(event.schedule)

    def _ended(self, event: ExecutionEnded, _place: Cursor) -> None:
        for schedule, began in self._began.items():
            if event.execution in began:
                self._soon(schedule)

    _MEANINGS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        moves.ScheduleCreated: _named_by,
        moves.ScheduleLeadersChanged: _named_by,
        moves.ScheduleTriggered: _triggered,
        moves.ScheduleCollected: _collected,
        moves.ScheduleActivityChanged: _changed_by,
        moves.ScheduleRefilled: _changed_by,
        moves.ScheduleCancelled: _cancelled,
        ExecutionEnded: _ended,
    }

    def _soon(self, schedule: Address) -> None:
        self._plan(schedule, self._clock.now_ms() + _GRACE_MS)

    def _plan(self, schedule: Address, at_ms: int) -> None:
        if schedule in self._named:
            self._due[schedule] = min(at_ms, self._due.get(schedule, at_ms))
            self._changed.set()

    def _forget(self, schedule: Address) -> None:
        self._named.pop(schedule, None)
        self._awaited.forget(schedule)
        self._due.pop(schedule, None)
        self._began.pop(schedule, None)

    # --- Doing it

    async def _look(self, place: Address) -> None:
        """Begin what time makes due, or plan when to look again; or await what events do."""
        found = await self._state(place)
        if found is None:
            return
        schedule, order = found
        leader = order.terms.leaders.index(self._chain.leader)
        if isinstance(order.timing.plan, Plan.OnEvent):
            self._awaited.follow(schedule, order.timing.plan.event, self._named[place])
            return
        is_active = schedule_state(schedule, order) is ScheduleState.ACTIVE
        if not is_active or schedule.next_at_ms is None:
            return  # an event tells if that changes
        now_ms = self._clock.now_ms()
        mine_at_ms = schedule.next_at_ms + leader * _WINDOW_MS
        if mine_at_ms > now_ms:
            self._plan(place, mine_at_ms)
            return
        began = await self._triggers.executions(self._began[place])
        if not await self._begin(schedule, order, began):
            self._plan(place, now_ms + _LATER_MS)

    async def _told(self, place: Address, records: Sequence[EventRecord]) -> None:
        """Begin an execution for each of these events that counts, the oldest first.

        Those behind the first leader wait for its window to pass, and look again.
        """
        looked = False
        while found := await self._state(place):
            schedule, order = found
            began = await self._triggers.executions(self._began[place])
            is_active = schedule_state(schedule, order) is ScheduleState.ACTIVE
            if not is_active or _funds_mist(schedule, began) < order.each_mist:
                return
            records = [each for each in records if _counts(each, schedule, order, began)]
            if not records:
                return
            first, window_ms = (
                records[0],
                order.terms.leaders.index(self._chain.leader) * _WINDOW_MS,
            )
            if window_ms and not looked:
                await self._clock.wait_until((first.timestamp_ms or 0) + window_ms)
                looked = True
                continue
            looked = False
            if not await self._begin(schedule, order, began, first.cursor):
                return
            records = records[1:]

    async def _state(self, place: Address) -> tuple[moves.Schedule, moves.Order] | None:
        """A schedule that names this leader, as it is now; one that does not is forgotten."""
        try:
            schedule, order = await self._triggers.state(place)
        except NotFoundError:
            self._forget(place)
            return None
        if self._chain.leader not in order.terms.leaders:
            self._forget(place)
            return None
        return schedule, order

    async def _begin(
        self,
        schedule: moves.Schedule,
        order: moves.Order,
        began: Sequence[Execution],
        event: Cursor | None = None,
    ) -> bool:
        triggered = await self._triggers.begin(schedule, order, began, event)
        if triggered is None:
            return False
        self._began[schedule.id].add(triggered.execution)
        return True


def _funds_mist(schedule: moves.Schedule, began: Sequence[Execution]) -> int:
    """What a schedule has, with what executions left, which a trigger collects first."""
    ended = (each for each in began if each.ended_at_ms is not None)
    return schedule.funds_mist + sum(each.funds for each in ended)


def _counts(
    record: EventRecord, schedule: moves.Schedule, order: moves.Order, began: Sequence[Execution]
) -> bool:
    """Whether an event makes something due, if nothing else was begun since.

    Not if it or a later one did before, and not if it was told before events counted, in the pause
    after another, or while an execution ran that it may not overlap.
    """
    last, told_at_ms = schedule.cursor, record.timestamp_ms or 0
    if last and record.cursor.position <= (last.checkpoint, last.transaction, last.event):
        return False
    if schedule.next_at_ms is None or told_at_ms < schedule.next_at_ms:
        return False
    ends_ms = (each.ended_at_ms for each in began if each.ended_at_ms is not None)
    return order.overlaps or all(ended_at_ms < told_at_ms for ended_at_ms in ends_ms)
