"""The events that schedules wait for: they are followed for each, and told in pages.

Whoever creates a schedule chooses the event, and anyone may: so there are only so many places, and
few for one owner. Only who could begin something has one; it is let go of when that changes, and
then the next in the queue gets it. Schedules that triggered an execution go first, because each of
those was paid for, then owners with few places. A schedule that never triggered gives its place up
to another one that waits. What was told meanwhile is told when it has one again.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeGuard

from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.intake.event_page import Item, in_pages
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.retry_delays import Setbacks
from nexus_tools.sui.client import WENT_BACK, Cursor, EventFilter, EventRecord, follow_events
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag

_log = get_logger("nexus_tools.leader")

MAX_FOLLOWED = 64
"""For how many schedules events are followed."""

MAX_OF_OWNER = 8
"""For how many of one owner."""

# What the node has no more cannot be read again.
_GONE = ("history_missing", WENT_BACK)

Tell = Callable[[Address, Sequence[EventRecord]], Awaitable[bool]]


class AwaitedEvents:
    """A task in `group` for each schedule that waits for events and has a place.

    `tell` gets the schedule and events of its type with their times, in their order, and says
    whether they are done with: else they are told again, as they are after trouble.
    """

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        chain: Chain,
        tell: Tell,
        metrics: LeaderMetrics,
    ) -> None:
        self._group = group
        self._chain = chain
        self._tell = tell
        self._metrics = metrics
        self._setbacks = Setbacks(config)
        self._waits: dict[Address, _Wait] = {}

    def follow(self, schedule: Schedule, event: str, since: Cursor) -> None:
        """Follow the events of a type for a schedule, once there is a place.

        Those after the last ones that were done with, or after `since`, where it was created.
        """
        wait = self._waits.get(schedule.id)
        if wait is None:
            try:
                tag = parse_struct_tag(event)
            except ValidationError:
                told = {"schedule": str(schedule.id), "reason": "type_invalid"}
                _log.warning("events_not_followed", **told)
                return
            wait = self._waits[schedule.id] = _Wait(schedule.id, schedule.owner, tag, since)
        wait.has_triggered = schedule.cursor is not None
        if not wait.is_wanted:
            wait.is_wanted = True
            wait.go_on_behind(schedule)
            self._give_places()
            if wait.task is None:
                told = {"schedule": str(schedule.id), "reason": "too_many"}
                _log.warning("events_not_followed", **told)

    def let_go(self, schedule: Address) -> None:
        """Follow nothing for a schedule for now; its events are told when it is followed again."""
        wait = self._waits.get(schedule)
        if wait is not None and wait.is_wanted:
            wait.is_wanted = False
            if not wait.is_telling:  # else its task ends when that is done
                self._end(wait)

    def forget(self, schedule: Address) -> None:
        """Follow nothing for a schedule any more."""
        wait = self._waits.pop(schedule, None)
        if wait is not None:
            wait.is_wanted = False
            self._end(wait)

    def stop(self) -> None:
        """Follow nothing any more."""
        waits, self._waits = self._waits, {}
        for wait in waits.values():
            self._end(wait)

    # --- Who has a place

    def _give_places(self) -> None:
        """Let those follow that wait for it, as far as there are places."""
        owners = Counter(each.owner for each in self._waits.values() if each.task)
        waiting = [each for each in self._waits.values() if each.is_wanted and each.task is None]
        while waiting:
            # Of schedules that are alike, the oldest one is first.
            wait = min(waiting, key=lambda each: (not each.has_triggered, owners[each.owner]))
            waiting.remove(wait)
            if owners[wait.owner] >= MAX_OF_OWNER:
                continue
            if owners.total() >= MAX_FOLLOWED:
                evicted = self._evictable(wait, owners)
                if evicted is None:
                    return
                task, evicted.task = evicted.task, None
                owners[evicted.owner] -= 1
                if task is not None:
                    task.cancel()
            owners[wait.owner] += 1
            wait.task = self._group.create_task(self._run(wait))

    def _evictable(self, wait: "_Wait", owners: Counter[Address]) -> "_Wait | None":
        """Return a schedule that never triggered, and whose place another one deserves more.

        It has the owner with the most places. Between schedules that never triggered, an owner
        without a place gets one of an owner that has several.
        """
        found = [
            each
            for each in self._waits.values()
            if each.task and not each.has_triggered and not each.is_telling
        ]
        last = max(found, key=lambda each: owners[each.owner], default=None)
        is_fairer = last is not None and owners[last.owner] > owners[wait.owner] + 1
        return last if wait.has_triggered or is_fairer else None

    def _end(self, wait: "_Wait") -> None:
        task, wait.task = wait.task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self._give_places()

    # --- Following

    async def _run(self, wait: "_Wait") -> None:
        while wait.is_wanted:
            error: Exception | None = None
            try:
                await self._follow(wait)
            except Exception as trouble:  # noqa: BLE001 - a stranger chose what is followed
                error = trouble
                self._troubled(wait, trouble)
            if wait.is_wanted:
                wait.setbacks += 1
                await asyncio.sleep(self._setbacks.pause_ms(wait.setbacks, error) / 1000)
        if wait.task is asyncio.current_task():
            self._end(wait)

    def _troubled(self, wait: "_Wait", error: Exception) -> None:
        if isinstance(error, UnreachableError):
            return  # the heartbeat tells of it
        self._metrics.trouble.labels("schedules").inc()
        told = {"schedule": str(wait.schedule), "error": in_short(error)}
        if isinstance(error, NexusError) and error.code in _GONE:
            wait.place = None
            _log.warning("events_skipped", **told)
        else:
            _log.warning("events_postponed", **told)

    async def _follow(self, wait: "_Wait") -> None:
        """Tell what comes, for as long as the schedule waits and is done with it."""
        tag = wait.type
        wanted = EventFilter(tag.address, (tag.module,), (tag.name,))
        items = follow_events(self._chain.client, wanted, wait.place, timestamps=True)
        async with aclosing(items), aclosing(in_pages(items)) as pages:
            async for page in pages:
                if not await self._tell_of(wait, page):
                    return
                wait.place = page[-1].cursor
                wait.setbacks = 0
                if not wait.is_wanted:
                    return

    async def _tell_of(self, wait: "_Wait", page: Sequence[Item]) -> bool:
        records = [each for each in page if wait.is_for(each)]
        wait.is_telling = True
        try:
            return not records or await self._tell(wait.schedule, records)
        finally:
            wait.is_telling = False


@dataclass(slots=True, eq=False)
class _Wait:
    """Of which type events are followed for a schedule, and up to which place they are done with.

    It has a `task` while it has a place. Without a place on the chain, events count from now on.
    """

    schedule: Address
    owner: Address
    type: StructTag
    place: Cursor | None
    is_wanted: bool = False
    is_telling: bool = False
    has_triggered: bool = False
    setbacks: int = 0
    task: asyncio.Task[None] | None = None

    def go_on_behind(self, schedule: Schedule) -> None:
        """Events up to the last one that triggered it are done with, too."""
        last = schedule.cursor
        if last and self.place:
            place = Cursor(last.checkpoint, last.transaction, last.event)
            self.place = max(self.place, place, key=lambda each: each.position)

    def is_for(self, item: Item) -> TypeGuard[EventRecord]:
        """Whether it is an event of the type; of one without parameters, with whatever ones."""
        if not isinstance(item, EventRecord):
            return False
        return not self.type.type_params or item.event.type == self.type
