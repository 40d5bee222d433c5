"""A runner that starts the due executions of schedules, for which the leader earns keeper fees.

The chain decides whether an execution is due by time. Move code cannot read events, so leaders
report the events that start an execution. Each transaction is simulated first. It is not sent if it
would not start an execution, or if its cost exceeds its fee. If the funds of a schedule are
insufficient, no transaction is simulated.
"""

import asyncio
from collections.abc import Mapping, Sequence

from nexus_tools.contracts import ScheduleState
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.contracts.move_bindings.workflows.timing import Plan
from nexus_tools.errors import NotFoundError, UnreachableError
from nexus_tools.http.fair_share import FairShare
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.assigned_schedules import AssignedSchedule, AssignedSchedules
from nexus_tools.leader.schedules.event_triggers import EventFollower
from nexus_tools.leader.schedules.retry_delays import RetryDelays
from nexus_tools.leader.schedules.schedule_search import ScheduleSearch
from nexus_tools.leader.schedules.triggers import TriggerExecutor
from nexus_tools.registry import ScheduleOverview
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

# schedule::WINDOW_MS
_WINDOW_MS = 10_000
_MAX_CONCURRENT, _MAX_PER_OWNER = 16, 4


class ScheduleRunner:
    """A runner that waits until schedules are due, and checks several schedules concurrently.

    The number of concurrent checks is limited, in total and per owner. For each schedule that waits
    for events, `EventFollower` runs a separate task.
    """

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        chain: Chain,
        triggers: TriggerExecutor,
        *,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
    ) -> None:
        self._config = config
        self._group = group
        self._chain = chain
        self._triggers = triggers
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._event_follower = EventFollower(config, group, chain, self._handle_events, metrics)
        self._assigned = AssignedSchedules(chain.leader, clock, self._event_follower.forget)
        self._setbacks = RetryDelays(config)
        self._slots: FairShare[Address | None] = FairShare(_MAX_CONCURRENT, _MAX_PER_OWNER)
        self._checks: set[asyncio.Task[None]] = set()
        self._search: tuple[ScheduleSearch, asyncio.Task[None]] | None = None

    def resume(self, schedules: Mapping[Address, Cursor]) -> None:
        """Check the schedules that the journal contains."""
        self._assigned.resume(schedules)

    def start_search(self) -> None:
        """Search the past events for schedules that name this leader, until `run` ends."""
        self._cancel_search()
        search = ScheduleSearch(self._config, self._chain, self._journal, self._metrics)
        self._search = search, self._group.create_task(self._run_search(search))

    async def _run_search(self, search: ScheduleSearch) -> None:
        self._assigned.resume(await search.run())
        self._search = None

    def _cancel_search(self) -> None:
        if self._search is not None:
            self._search[1].cancel()

    async def run(self) -> None:
        """Start due executions forever."""
        try:
            while True:
                for entry in await self._assigned.due():
                    check = self._group.create_task(self._check_safely(entry))
                    self._checks.add(check)
                    check.add_done_callback(self._checks.discard)
        finally:
            self._event_follower.stop()
            for check in self._checks:
                check.cancel()
            self._cancel_search()

    def is_tracked(self, subject: bytes) -> bool:
        """Return whether events about a schedule or an execution matter.

        A search needs all events of schedules.
        """
        return self._search is not None or self._assigned.is_tracked(subject)

    def observe(self, page: EventPage) -> None:
        """Apply a page of events."""
        if self._search is not None:
            self._search[0].observe(page.namings)
        for event, place in page.schedules:
            self._assigned.apply(event, place)

    async def _check_safely(self, entry: AssignedSchedule) -> None:
        try:
            async with self._slots.slot(entry.owner):
                await self._check(entry)
        except Exception as error:  # noqa: BLE001 - schedules are untrusted input
            if not isinstance(error, UnreachableError):  # the heartbeat reports an unreachable node
                self._metrics.trouble.labels("schedules").inc()
                details = {"schedule": str(entry.id), "error": error_summary(error)}
                _log.warning("schedule_postponed", **details)
            self._retry_later(entry, error)
        finally:
            self._assigned.release(entry)

    def _retry_later(self, entry: AssignedSchedule, error: Exception | None = None) -> None:
        """Plan another check of a schedule with back-off. Events may cause an earlier check."""
        entry.failed_checks += 1
        pause_ms = self._setbacks.pause_ms(entry.failed_checks, error)
        self._assigned.plan(entry, self._clock.now_ms() + pause_ms)

    # --- Schedules by time

    async def _check(self, entry: AssignedSchedule) -> None:
        """Start an execution that is due by time, or follow the events that the schedule awaits."""
        overview = await self._overview(entry)
        if overview is None:
            return
        if isinstance(overview.order.timing.plan, Plan.OnEvent):
            self._follow_events(entry, overview, overview.order.timing.plan.event)
            return
        if overview.state is not ScheduleState.ACTIVE or overview.next_at_ms is None:
            return  # an event will report the next change of the schedule
        mine_at_ms = overview.next_at_ms + self._window_ms(overview)
        if mine_at_ms > overview.now_ms:
            entry.failed_checks = 0
            self._assigned.plan(entry, mine_at_ms)
        elif not overview.is_funded or not await self._begin(entry, overview):
            self._retry_later(entry)

    # --- Schedules by events

    def _follow_events(
        self, entry: AssignedSchedule, overview: ScheduleOverview, event: str
    ) -> None:
        """Follow the awaited events if the schedule could start an execution, else pause."""
        if _can_start(overview):
            self._event_follower.follow(overview.schedule, event, entry.since)
            return
        self._event_follower.pause(entry.id)
        if overview.state is ScheduleState.ACTIVE:
            self._retry_later(entry)

    async def _handle_events(self, schedule_id: Address, records: Sequence[EventRecord]) -> bool:
        """Start an execution for each triggering event, the oldest first.

        If the schedule names other leaders before this one, wait until their windows have passed,
        and check again. Return False if an event should start an execution that cannot start now.
        """
        has_waited = False
        while entry := self._assigned.get(schedule_id):
            overview = await self._overview(entry)
            records = [record for record in records if overview and _counts(record, overview)]
            if overview is None or not records:
                return True
            event, window_ms = records[0], self._window_ms(overview)
            can_begin = _can_start(overview)
            if can_begin and window_ms and not has_waited:
                await self._clock.wait_until((event.timestamp_ms or 0) + window_ms)
                has_waited = True
                continue
            has_waited = False
            if not (can_begin and await self._begin(entry, overview, event.cursor)):
                self._event_follower.pause(schedule_id)
                self._retry_later(entry)
                return False
            records = records[1:]
        return True

    # --- All schedules

    async def _overview(self, entry: AssignedSchedule) -> ScheduleOverview | None:
        """Return the state of a schedule, or None.

        If the schedule does not exist, is cancelled, or does not name this leader, forget it and
        return None. The result is also None if the cursor was reset during the read, which causes
        another check.
        """
        since = entry.since
        try:
            schedule, order = await self._triggers.read_schedule(entry.id)
        except NotFoundError:
            self._assigned.forget(entry.id)
            return None
        if self._chain.leader not in order.terms.leaders or schedule.is_cancelled:
            self._assigned.forget(entry.id)
            return None
        entry.owner = schedule.owner
        executions = await self._uncollected(entry, schedule)
        overview = await self._triggers.overview(schedule, order, executions, self._clock.now_ms())
        is_current = self._assigned.is_named(entry) and entry.since == since
        return overview if is_current else None

    async def _uncollected(
        self, entry: AssignedSchedule, schedule: Schedule
    ) -> Sequence[Execution]:
        """Return the uncollected executions of a schedule.

        The result includes executions from before the schedule named this leader.
        """
        if schedule.running > len(entry.started) and not entry.is_searched:
            uncollected = await self._triggers.uncollected(schedule.id)
            self._assigned.record_starts(entry, (execution.id for execution in uncollected))
        return await self._triggers.executions(schedule, entry.started)

    async def _begin(
        self, entry: AssignedSchedule, overview: ScheduleOverview, event: Cursor | None = None
    ) -> bool:
        triggered = await self._triggers.trigger(overview, event)
        if triggered is None:
            return False
        self._assigned.record_start(entry, triggered.execution)
        entry.failed_checks = 0
        return True

    def _window_ms(self, overview: ScheduleOverview) -> int:
        """Return the total length of the windows of the leaders before this leader, in ms."""
        return overview.order.terms.leaders.index(self._chain.leader) * _WINDOW_MS


def _can_start(overview: ScheduleOverview) -> bool:
    return overview.state is ScheduleState.ACTIVE and overview.is_funded


def _counts(record: EventRecord, overview: ScheduleOverview) -> bool:
    """Return whether an event starts an execution, according to the state of the schedule.

    The event is ignored if it or a later event has already started an execution. It is also ignored
    if it occurred before the schedule accepted events, in the pause after another event, or during
    an execution that must not overlap with the next execution.
    """
    schedule, occurred_at_ms = overview.schedule, record.timestamp_ms or 0
    last = schedule.cursor
    if last and record.cursor.position <= (last.checkpoint, last.transaction, last.event):
        return False
    if schedule.next_at_ms is None or occurred_at_ms < schedule.next_at_ms:
        return False
    if overview.order.overlaps:
        return True
    is_taken = schedule.running > len(overview.ended)
    return not is_taken and all(
        execution.ended_at_ms < occurred_at_ms for execution in overview.ended
    )
