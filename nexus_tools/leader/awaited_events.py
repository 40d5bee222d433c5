"""The events that schedules wait for: they are followed for each, and told in pages.

Whoever creates a schedule chooses the event, and anyone may: so there are only so many, and few for
one owner; others get the places of those that are cancelled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeGuard

from nexus_tools.client import Cursor, EventFilter, EventRecord, follow_events
from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.event_page import Item, in_pages
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.logs import get_logger, in_short
from nexus_tools.package.move.workflows.schedule import Schedule
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import StructTag, parse_struct_tag

_log = get_logger("nexus_tools.leader")

MAX_FOLLOWED = 64
"""For how many schedules events are followed."""

MAX_OF_OWNER = 8
"""For how many of one owner."""

Tell = Callable[[Address, Sequence[EventRecord]], Awaitable[None]]


class AwaitedEvents:
    """A task for each schedule that waits for events, in `group`.

    `tell` gets the schedule and events of its type with their times, in their order: the same ones
    again if the node was away meanwhile.
    """

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        chain: Chain,
        tell: Tell,
        metrics: LeaderMetrics,
    ) -> None:
        self._pause_s = config.trouble_pause_ms / 1000
        self._group = group
        self._chain = chain
        self._tell = tell
        self._metrics = metrics
        self._waits: dict[Address, _Wait] = {}

    def follow(self, schedule: Schedule, event: str, since: Cursor) -> None:
        """Follow the events of a type for a schedule, if that is not done yet.

        Those after the last one that triggered it, or after `since`, where it was created.
        """
        if schedule.id in self._waits or schedule.is_cancelled:
            return
        of_owner = sum(each.owner == schedule.owner for each in self._waits.values())
        if len(self._waits) >= MAX_FOLLOWED or of_owner >= MAX_OF_OWNER:
            _log.warning("events_not_followed", schedule=str(schedule.id), reason="too_many")
            return
        try:
            tag = parse_struct_tag(event)
        except ValidationError:
            _log.warning("events_not_followed", schedule=str(schedule.id), reason="type_invalid")
            return
        last = schedule.cursor
        place = Cursor(last.checkpoint, last.transaction, last.event) if last else since
        wait = self._waits[schedule.id] = _Wait(schedule.id, schedule.owner, tag, place)
        wait.task = self._group.create_task(self._run(wait))

    def forget(self, schedule: Address) -> None:
        """Follow nothing for a schedule any more."""
        wait = self._waits.pop(schedule, None)
        if wait is not None and wait.task is not None and wait.task is not asyncio.current_task():
            wait.task.cancel()

    def stop(self) -> None:
        """Follow nothing any more."""
        for schedule in [*self._waits]:
            self.forget(schedule)

    async def _run(self, wait: "_Wait") -> None:
        while wait.schedule in self._waits:
            try:
                await self._follow(wait)
            except UnreachableError:
                await asyncio.sleep(self._pause_s)
            except NexusError as error:
                self._metrics.trouble.labels("schedules").inc()
                told = in_short(error)
                _log.warning("events_skipped", schedule=str(wait.schedule), error=told)
                wait.place = None  # what the node has no more cannot be read again
                await asyncio.sleep(self._pause_s)

    async def _follow(self, wait: "_Wait") -> None:
        """Tell what comes, for as long as the schedule waits."""
        tag = wait.type
        wanted = EventFilter(tag.address, (tag.module,), (tag.name,))
        items = follow_events(self._chain.client, wanted, wait.place, timestamps=True)
        async with aclosing(items), aclosing(in_pages(items)) as pages:
            async for page in pages:
                records = [each for each in page if wait.is_for(each)]
                if records:
                    await self._tell(wait.schedule, records)
                wait.place = page[-1].cursor
                if wait.schedule not in self._waits:
                    return


@dataclass(slots=True)
class _Wait:
    """Of which type events are followed for a schedule, and from which place on."""

    schedule: Address
    owner: Address
    type: StructTag
    place: Cursor | None
    task: asyncio.Task[None] | None = None

    def is_for(self, item: Item) -> TypeGuard[EventRecord]:
        """Whether it is an event of the type; of one without parameters, with whatever ones."""
        if not isinstance(item, EventRecord):
            return False
        return not self.type.type_params or item.event.type == self.type
