"""Followers of the events for which schedules wait, with one task for each schedule.

Anyone can create a schedule and choose its event. The number of followed schedules is therefore
limited, in total and per owner. A schedule has a slot only while it could start an execution. A
free slot is assigned to a waiting schedule. Schedules that have triggered an execution have the
highest priority, because they paid for it, followed by schedules of owners with few slots. If all
slots are in use, a schedule that never triggered may lose its slot to a waiting schedule. When it
gets a slot again, it handles the events that it missed.
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
from nexus_tools.leader.intake.event_page import Item
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.retry_delays import RetryDelays
from nexus_tools.sui.client import (
    CHAIN_ROLLED_BACK,
    Cursor,
    EventFilter,
    EventRecord,
    follow_events,
    paginate,
)
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag

_log = get_logger("nexus_tools.leader")

MAX_FOLLOWED_SCHEDULES = 64
"""The largest number of schedules whose events are followed."""

MAX_FOLLOWED_PER_OWNER = 8
"""The largest number of followed schedules of one owner."""

# Errors after which the missed events cannot be read again.
_UNREADABLE_CODES = ("history_missing", CHAIN_ROLLED_BACK)

EventHandler = Callable[[Address, Sequence[EventRecord]], Awaitable[bool]]


class EventFollower:
    """A follower of events, with a task in `group` for each waiting schedule that has a slot.

    `tell` is called with a schedule and with events of the awaited type and their times, in order.
    `tell` returns whether the events are handled. If it returns False or raises an error, it is
    called with the same events again.
    """

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        chain: Chain,
        tell: EventHandler,
        metrics: LeaderMetrics,
    ) -> None:
        self._group = group
        self._chain = chain
        self._tell = tell
        self._metrics = metrics
        self._setbacks = RetryDelays(config)
        self._subscriptions: dict[Address, _Subscription] = {}

    def follow(self, schedule: Schedule, event: str, since: Cursor) -> None:
        """Follow the events of a type for a schedule as soon as a slot is free.

        Start after the last handled event. If no event was handled, start after `since`.
        """
        subscription = self._subscriptions.get(schedule.id)
        if subscription is None:
            try:
                tag = parse_struct_tag(event)
            except ValidationError:
                details = {"schedule": str(schedule.id), "reason": "type_invalid"}
                _log.warning("events_not_followed", **details)
                return
            subscription = self._subscriptions[schedule.id] = _Subscription(
                schedule.id, schedule.owner, tag, since
            )
        subscription.has_triggered = schedule.cursor is not None
        if not subscription.is_wanted:
            subscription.is_wanted = True
            subscription.skip_handled(schedule)
            self._assign_slots()
            if subscription.task is None:
                details = {"schedule": str(schedule.id), "reason": "too_many"}
                _log.warning("events_not_followed", **details)

    def pause(self, schedule: Address) -> None:
        """Stop following events for a schedule until `follow` is called. Retain the position."""
        subscription = self._subscriptions.get(schedule)
        if subscription is not None and subscription.is_wanted:
            subscription.is_wanted = False
            if not subscription.is_handling:  # otherwise the task ends after the current page
                self._end_task(subscription)

    def forget(self, schedule: Address) -> None:
        """Stop following events for a schedule, and forget its position."""
        subscription = self._subscriptions.pop(schedule, None)
        if subscription is not None:
            subscription.is_wanted = False
            self._end_task(subscription)

    def stop(self) -> None:
        """Stop following events for all schedules."""
        subscriptions, self._subscriptions = self._subscriptions, {}
        for subscription in subscriptions.values():
            self._end_task(subscription)

    # --- Slots

    def _assign_slots(self) -> None:
        """Start the tasks of waiting schedules while slots are free."""
        owners = Counter(entry.owner for entry in self._subscriptions.values() if entry.task)
        waiting = [
            entry
            for entry in self._subscriptions.values()
            if entry.is_wanted and entry.task is None
        ]
        while waiting:
            # Among equal schedules, `min` returns the oldest one.
            subscription = min(
                waiting, key=lambda entry: (not entry.has_triggered, owners[entry.owner])
            )
            waiting.remove(subscription)
            if owners[subscription.owner] >= MAX_FOLLOWED_PER_OWNER:
                continue
            if owners.total() >= MAX_FOLLOWED_SCHEDULES:
                evicted = self._evictable(subscription, owners)
                if evicted is None:
                    return
                task, evicted.task = evicted.task, None
                owners[evicted.owner] -= 1
                if task is not None:
                    task.cancel()
            owners[subscription.owner] += 1
            subscription.task = self._group.create_task(self._run(subscription))

    def _evictable(
        self, subscription: "_Subscription", owners: Counter[Address]
    ) -> "_Subscription | None":
        """Return a schedule that loses its slot to `subscription`, or None.

        The returned schedule has never triggered, and its owner has the most slots. If
        `subscription` has never triggered, its owner must have at least two slots fewer.
        """
        candidates = [
            candidate
            for candidate in self._subscriptions.values()
            if candidate.task and not candidate.has_triggered and not candidate.is_handling
        ]
        loser = max(candidates, key=lambda candidate: owners[candidate.owner], default=None)
        is_fairer = loser is not None and owners[loser.owner] > owners[subscription.owner] + 1
        return loser if subscription.has_triggered or is_fairer else None

    def _end_task(self, subscription: "_Subscription") -> None:
        task, subscription.task = subscription.task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self._assign_slots()

    # --- Following

    async def _run(self, subscription: "_Subscription") -> None:
        while subscription.is_wanted:
            error: Exception | None = None
            try:
                await self._follow(subscription)
            except Exception as trouble:  # noqa: BLE001 - the event type is untrusted input
                error = trouble
                self._log_error(subscription, trouble)
            if subscription.is_wanted:
                subscription.setbacks += 1
                await asyncio.sleep(self._setbacks.pause_ms(subscription.setbacks, error) / 1000)
        if subscription.task is asyncio.current_task():
            self._end_task(subscription)

    def _log_error(self, subscription: "_Subscription", error: Exception) -> None:
        if isinstance(error, UnreachableError):
            return  # the heartbeat reports an unreachable node
        self._metrics.trouble.labels("schedules").inc()
        details = {"schedule": str(subscription.schedule), "error": error_summary(error)}
        if isinstance(error, NexusError) and error.code in _UNREADABLE_CODES:
            subscription.position = None
            _log.warning("events_skipped", **details)
        else:
            _log.warning("events_postponed", **details)

    async def _follow(self, subscription: "_Subscription") -> None:
        """Handle pages of events until the schedule stops waiting or a page is not handled."""
        tag = subscription.type
        event_filter = EventFilter(tag.address, (tag.module,), (tag.name,))
        items = follow_events(
            self._chain.client, event_filter, subscription.position, timestamps=True
        )
        async with aclosing(items), aclosing(paginate(items)) as pages:
            async for page in pages:
                if not await self._handle(subscription, page):
                    return
                subscription.position = page[-1].cursor
                subscription.setbacks = 0
                if not subscription.is_wanted:
                    return

    async def _handle(self, subscription: "_Subscription", page: Sequence[Item]) -> bool:
        records = [item for item in page if subscription.matches(item)]
        subscription.is_handling = True
        try:
            return not records or await self._tell(subscription.schedule, records)
        finally:
            subscription.is_handling = False


@dataclass(slots=True, eq=False)
class _Subscription:
    """The event type for which a schedule waits, and the position of the last handled event.

    `task` is set while the schedule has a slot. If `position` is None, only new events are handled.
    """

    schedule: Address
    owner: Address
    type: StructTag
    position: Cursor | None
    is_wanted: bool = False
    is_handling: bool = False
    has_triggered: bool = False
    setbacks: int = 0
    task: asyncio.Task[None] | None = None

    def skip_handled(self, schedule: Schedule) -> None:
        """Mark the events up to the last event that triggered the schedule as handled."""
        last = schedule.cursor
        if last and self.position:
            position = Cursor(last.checkpoint, last.transaction, last.event)
            self.position = max(self.position, position, key=lambda cursor: cursor.position)

    def matches(self, item: Item) -> TypeGuard[EventRecord]:
        """Return whether an item is an event of the awaited type.

        If the awaited type has no type parameters, the type parameters of events are ignored.
        """
        if not isinstance(item, EventRecord):
            return False
        return not self.type.type_params or item.event.type == self.type
