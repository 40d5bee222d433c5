"""The event watcher, which follows, records and passes on the events of the packages."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from time import monotonic

from nexus_tools.contracts import event_filter
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.intake.event_page import KINDS, EventPage, Item
from nexus_tools.leader.intake.relevance import Relevance
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.client import (
    CHAIN_ROLLED_BACK,
    Cursor,
    EventFilter,
    SuiClient,
    follow_events,
    paginate,
)
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")

BEGINNING = "no events have been read yet"

# If the cursor of an empty page is lost, the next start reads that range of events again.
_SECONDS_BETWEEN_EMPTY_PAGES = 5.0


class Watcher:
    """A reader of events that passes pages to `hand_on`, which may wait for free capacity."""

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        *,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
        relevance: Relevance,
        hand_on: Callable[[EventPage], Awaitable[None]],
    ) -> None:
        self._config = config
        self._chain = chain
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._relevance = relevance
        self._hand_on = hand_on
        self._filter = event_filter(chain.deployment, *KINDS)
        self._cursor: Cursor | None = None
        self._written_at = 0.0
        self.trouble = BEGINNING

    async def run(self, cursor: str | None) -> None:
        """Follow events forever, from `cursor`, or by default from `lookback_ms` before now."""
        self._cursor = Cursor.parse(cursor) if cursor else None
        while True:
            try:
                await self._follow()
            except NexusError as error:
                if error.code == "journal_failed":
                    raise
                self.trouble = error.message
                if error.code == CHAIN_ROLLED_BACK:
                    self._chain.note_rollback()
                self._metrics.trouble.labels("watcher").inc()
                if not isinstance(error, UnreachableError):  # the heartbeat reports the error
                    _log.warning("event_stream_interrupted", code=error.code, error=error.message)
                await asyncio.sleep(self._config.error_retry_delay_ms / 1000)

    async def _follow(self) -> None:
        client = self._chain.client
        if self._cursor is None:
            lookback_ms = self._config.lookback_ms
            self._cursor = await starting_cursor(client, self._filter, lookback_ms)
        items = follow_events(client, self._filter, self._cursor, interrupted=self._interrupted)
        async with aclosing(items), aclosing(paginate(items)) as pages:
            async for page in pages:
                self.trouble = ""
                await self._take(page)

    def _interrupted(self, error: UnreachableError) -> None:
        self.trouble = error.message

    async def _take(self, items: list[Item]) -> None:
        chain = self._chain
        page = EventPage.read(items, chain.deployment, chain.leader, self._relevance)
        if page.latest_ms:
            self._clock.observe(page.latest_ms)
            self._metrics.lag_seconds.set((self._clock.now_ms() - page.latest_ms) / 1000)
        self._cursor = page.cursor
        chain.observe(page.cursor.checkpoint)
        now = monotonic()
        if page.is_empty and now - self._written_at < _SECONDS_BETWEEN_EMPTY_PAGES:
            return
        self._written_at = now
        page.assigned = list(
            await self._journal.record_events(
                page.assigned,
                page.closed,
                str(page.cursor),
                self._clock.now_ms(),
                page.executions,
                schedules=page.namings,
                attempts=page.attempts,
                checkpoint=page.cursor.checkpoint,
            )
        )
        self._count(page)
        await self._hand_on(page)

    def _count(self, page: EventPage) -> None:
        self._metrics.fees_mist.inc(page.fees_mist)
        for assignment in page.assigned:
            place = "backup" if assignment.place else "first"
            self._metrics.assigned.labels(place).inc()


# --- The first cursor of a new journal, which is before the events of all open invocations

_STEP_GROWTH = 4


async def starting_cursor(client: SuiClient, event_filter: EventFilter, lookback_ms: int) -> Cursor:
    """Return a cursor at least `lookback_ms` before now, or the earliest cursor of the node.

    The search goes back from the latest checkpoint in growing steps. From checkpoint 1 000, it
    reads the times of the checkpoints 999, 996, 984, 936, 744 and 0 until a time is early enough.
    The search needs few requests, and goes back at most about four times as far as necessary.
    """
    tip = await _tip(client, event_filter)
    now_ms = await client.checkpoint_time_ms(tip)
    place, step = tip, 1
    while place > 0:
        earlier = max(0, tip - step)
        try:
            time_ms = await client.checkpoint_time_ms(earlier)
        except NotFoundError:
            return Cursor.after_checkpoint(place)
        if now_ms - time_ms > lookback_ms:
            return Cursor.after_checkpoint(earlier)
        place, step = earlier, step * _STEP_GROWTH
    return Cursor.beginning()


async def _tip(client: SuiClient, event_filter: EventFilter) -> int:
    items = follow_events(client, event_filter)
    async with aclosing(items):
        return (await anext(items)).cursor.checkpoint
