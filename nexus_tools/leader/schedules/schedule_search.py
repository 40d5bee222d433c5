"""The search of past events for schedules that name this leader.

A schedule may be older than every event that the Leader followed. A Leader with a new journal
therefore reads all events that name the leaders of schedules, once. Afterwards, the journal
contains the schedules, so that a restart does not depend on the length of the history.
"""

import asyncio
from collections.abc import Iterable

from nexus_tools.contracts import RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleCancelled,
    ScheduleCreated,
    ScheduleCursorReset,
    ScheduleLeadersChanged,
)
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.client import CHAIN_ROLLED_BACK, Cursor, past_events
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_KINDS = ScheduleCreated, ScheduleLeadersChanged, ScheduleCursorReset, ScheduleCancelled
_EVENTS_PER_LOG_LINE = 10_000


class ScheduleSearch:
    """One search, beside which the Leader already follows new events.

    The followed events are newer. If one of them removed this leader from a schedule, the search
    omits the schedule.
    """

    def __init__(
        self, config: LeaderConfig, chain: Chain, journal: Journal, metrics: LeaderMetrics
    ) -> None:
        self._config = config
        self._chain = chain
        self._journal = journal
        self._metrics = metrics
        self._removed: set[Address] = set()
        self._found: dict[Address, Cursor] = {}
        self._place: Cursor | None = None
        self._count = 0

    def observe(self, changes: Iterable[ScheduleChange]) -> None:
        """Apply followed events."""
        self._removed |= {
            change.schedule for change in changes if change.naming is Naming.NOT_NAMED
        }

    async def run(self) -> dict[Address, Cursor]:
        """Return the schedules that name this leader, and record them in the journal.

        Each schedule has the position from which events count. If the node has pruned its oldest
        checkpoints, return no schedules. The next start of the Leader then repeats the search.
        """
        is_finished = await self._read_all()
        for schedule in self._removed:
            self._found.pop(schedule, None)
        if is_finished:
            await self._journal.finish_schedule_search(self._found)
            _log.info("schedules_found", schedules=len(self._found), events=self._count)
        return self._found

    async def _read_all(self) -> bool:
        """Read the events. Return False if the node has pruned them."""
        while True:
            try:
                await self._read()
            except NexusError as error:
                if not isinstance(error, UnreachableError):  # the heartbeat reports the node
                    self._metrics.trouble.labels("schedules").inc()
                    _log.warning("schedules_read_failed", error=error_summary(error))
                if error.code == "history_missing":
                    return False
                if error.code == CHAIN_ROLLED_BACK:
                    self._found, self._place, self._count = {}, None, 0
                await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
            else:
                return True

    async def _read(self) -> None:
        kinds = event_filter(self._chain.deployment, *_KINDS)
        async for record in past_events(self._chain.client, kinds, self._place):
            event = parse_event(self._chain.deployment, record.event)
            if event is not None:
                self._apply(event, record.cursor)
            self._place = record.cursor
            self._count += 1
            if self._count % _EVENTS_PER_LOG_LINE == 0:
                progress = {"events": self._count, "checkpoint": record.checkpoint}
                _log.info("schedules_searched", **progress)

    def _apply(self, event: RegistryEvent, place: Cursor) -> None:
        match event:
            case ScheduleCreated() | ScheduleLeadersChanged():
                if self._chain.leader in event.leaders:
                    self._found.setdefault(event.schedule, place)
                else:
                    self._found.pop(event.schedule, None)
            case ScheduleCursorReset():
                if event.schedule in self._found:
                    self._found[event.schedule] = place
            case ScheduleCancelled():
                self._found.pop(event.schedule, None)
