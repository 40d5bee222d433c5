"""The schedules that name this leader: begins what is due, and is paid for it.

What is due when, the chain says: a transaction that would begin nothing, or cost more than it pays,
is simulated and not sent, and what funds are short for is not even simulated. The chain cannot see
events: what those make due, leaders say.
"""

import asyncio
from collections.abc import Sequence

from nexus_tools.contracts import RegistryEvent, ScheduleState, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.contracts.move_bindings.workflows.timing import Plan
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.http.fair_share import FairShare
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.assigned_schedules import NamedSchedule, NamedSchedules
from nexus_tools.leader.schedules.event_triggers import AwaitedEvents
from nexus_tools.leader.schedules.retry_delays import Setbacks
from nexus_tools.leader.schedules.triggers import Triggers
from nexus_tools.registry import ScheduleStanding
from nexus_tools.sui.client import Cursor, EventRecord, past_events
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

# schedule::WINDOW_MS
_WINDOW_MS = 10_000
_SIDE_BY_SIDE, _OF_OWNER = 16, 4


class Schedules:
    """Sleeps until something is due; several are looked at side by side, few of one owner.

    For events that are awaited there is a task for each schedule.
    """

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
        self._group = group
        self._chain = chain
        self._triggers = triggers
        self._clock = clock
        self._metrics = metrics
        self._awaited = AwaitedEvents(config, group, chain, self._told, metrics)
        self._named = NamedSchedules(chain.leader, clock, self._awaited.forget)
        self._setbacks = Setbacks(config)
        self._slots: FairShare[Address | None] = FairShare(_SIDE_BY_SIDE, _OF_OWNER)
        self._looks: set[asyncio.Task[None]] = set()
        self._later: list[tuple[RegistryEvent, Cursor]] | None = []

    async def run(self) -> None:
        """Find what there is, and then do what is due, without end."""
        try:
            await self._search()
            while True:
                for named in await self._named.due():
                    look = self._group.create_task(self._do(named))
                    self._looks.add(look)
                    look.add_done_callback(self._looks.discard)
        finally:
            self._awaited.stop()
            for look in self._looks:
                look.cancel()

    def observe(self, page: EventPage) -> None:
        """Take in what events tell, once all is that was told before."""
        if self._later is not None:
            self._later += page.schedules
            return
        for event, place in page.schedules:
            self._named.take(event, place)

    async def _search(self) -> None:
        """Take in what events told before, as far as the node has them."""
        kinds = event_filter(self._chain.deployment, *NamedSchedules.MEANINGS)
        while self._later is not None:
            try:
                async for record in past_events(self._chain.client, kinds):
                    event = parse_event(self._chain.deployment, record.event)
                    if event is not None:
                        self._named.take(event, record.cursor)
            except UnreachableError:
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
                continue
            except NexusError as error:
                self._metrics.trouble.labels("schedules").inc()
                _log.warning("schedules_unread", error=in_short(error))
                if error.code != "history_missing":
                    await asyncio.sleep(self._config.trouble_pause_ms / 1000)
                    continue
            later, self._later = self._later, None
            for told, place in later:
                self._named.take(told, place)

    async def _do(self, named: NamedSchedule) -> None:
        try:
            async with self._slots.slot(named.owner):
                await self._look(named)
        except Exception as error:  # noqa: BLE001 - a stranger's schedule ends nothing
            if not isinstance(error, UnreachableError):  # of which the heartbeat tells
                self._metrics.trouble.labels("schedules").inc()
                told = {"schedule": str(named.id), "error": in_short(error)}
                _log.warning("schedule_postponed", **told)
            self._set_back(named, error)
        finally:
            self._named.release(named)

    def _set_back(self, named: NamedSchedule, error: Exception | None = None) -> None:
        """Look at it again later, and ever later, unless an event says more."""
        named.setbacks += 1
        pause_ms = self._setbacks.pause_ms(named.setbacks, error)
        self._named.plan(named, self._clock.now_ms() + pause_ms)

    # --- By time

    async def _look(self, named: NamedSchedule) -> None:
        """Begin what time makes due, or plan when to look again; or await what events do."""
        standing = await self._standing(named)
        if standing is None:
            return
        if isinstance(standing.order.timing.plan, Plan.OnEvent):
            self._await(named, standing, standing.order.timing.plan.event)
            return
        if standing.state is not ScheduleState.ACTIVE or standing.next_at_ms is None:
            return  # an event tells if that changes
        mine_at_ms = standing.next_at_ms + self._window_ms(standing)
        if mine_at_ms > standing.now_ms:
            named.setbacks = 0
            self._named.plan(named, mine_at_ms)
        elif not standing.is_funded or not await self._begin(named, standing):
            self._set_back(named)

    # --- By events

    def _await(self, named: NamedSchedule, standing: ScheduleStanding, event: str) -> None:
        """Follow the events of a schedule as long as it could begin something."""
        if _can_begin(standing):
            self._awaited.follow(standing.schedule, event, named.since)
            return
        self._awaited.let_go(named.id)
        if standing.state is ScheduleState.ACTIVE:
            self._set_back(named)

    async def _told(self, place: Address, records: Sequence[EventRecord]) -> bool:
        """Begin an execution for each of these events that counts, the oldest first.

        Those behind the first leader wait for its window to pass, and look again. False if
        something counts that cannot begin now.
        """
        looked = False
        while named := self._named.get(place):
            standing = await self._standing(named)
            records = [each for each in records if standing and _counts(each, standing)]
            if standing is None or not records:
                return True
            first, window_ms = records[0], self._window_ms(standing)
            can_begin = _can_begin(standing)
            if can_begin and window_ms and not looked:
                await self._clock.wait_until((first.timestamp_ms or 0) + window_ms)
                looked = True
                continue
            looked = False
            if not (can_begin and await self._begin(named, standing, first.cursor)):
                self._awaited.let_go(place)
                self._set_back(named)
                return False
            records = records[1:]
        return True

    # --- By both

    async def _standing(self, named: NamedSchedule) -> ScheduleStanding | None:
        """How a schedule that names this leader stands; one that does not is forgotten.

        Return None, too, if its cursor was reset while it was read: another look is planned then.
        """
        since = named.since
        try:
            schedule, order = await self._triggers.state(named.id)
        except NotFoundError:
            self._named.forget(named.id)
            return None
        if self._chain.leader not in order.terms.leaders:
            self._named.forget(named.id)
            return None
        named.owner = schedule.owner
        began = await self._began(named, schedule)
        standing = await self._triggers.standing(schedule, order, began, self._clock.now_ms())
        is_current = self._named.is_named(named) and named.since == since
        return standing if is_current else None

    async def _began(self, named: NamedSchedule, schedule: Schedule) -> Sequence[Execution]:
        """What is not collected, also of what it began before it named this leader."""
        if schedule.running > len(named.began) and not named.is_searched:
            found = await self._triggers.uncollected(schedule.id)
            self._named.note_all(named, (each.id for each in found))
        return await self._triggers.executions(schedule, named.began)

    async def _begin(
        self, named: NamedSchedule, standing: ScheduleStanding, event: Cursor | None = None
    ) -> bool:
        triggered = await self._triggers.begin(standing, event)
        if triggered is None:
            return False
        self._named.note(named, triggered.execution)
        named.setbacks = 0
        return True

    def _window_ms(self, standing: ScheduleStanding) -> int:
        """How long the leaders before this one have."""
        return standing.order.terms.leaders.index(self._chain.leader) * _WINDOW_MS


def _can_begin(standing: ScheduleStanding) -> bool:
    return standing.state is ScheduleState.ACTIVE and standing.is_funded


def _counts(record: EventRecord, standing: ScheduleStanding) -> bool:
    """Whether an event makes something due, if nothing else was begun since.

    Not if it or a later one did before, and not if it was told before events counted, in the pause
    after another, or while an execution ran that it may not overlap.
    """
    schedule, told_at_ms = standing.schedule, record.timestamp_ms or 0
    last = schedule.cursor
    if last and record.cursor.position <= (last.checkpoint, last.transaction, last.event):
        return False
    if schedule.next_at_ms is None or told_at_ms < schedule.next_at_ms:
        return False
    if standing.order.overlaps:
        return True
    is_taken = schedule.running > len(standing.left)
    return not is_taken and all(each.ended_at_ms < told_at_ms for each in standing.left)
