"""What a page of events means for one leader, and how events come in pages."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from nexus_tools.contracts import Deployment, RegistryEvent, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationDeleted,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionAdvanced,
    ExecutionBegun,
    ExecutionEnded,
    ExecutionLeadersChanged,
    ExecutionRefilled,
    ExecutionShort,
    ExecutionStopped,
    RegionGathered,
    RunRefused,
)
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleActivityChanged,
    ScheduleCancelled,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleCursorReset,
    ScheduleExtended,
    ScheduleLeadersChanged,
    ScheduleRefilled,
    ScheduleTriggered,
)
from nexus_tools.leader.chain.assignment import Assignment, assignment
from nexus_tools.leader.chain.closure import Closed
from nexus_tools.sui.client import Cursor, EventRecord, Progress
from nexus_tools.sui.types.address import Address

Item = EventRecord | Progress

_PAGE_ITEMS = 500


@dataclass(slots=True)
class EventPage:
    """Events in a row: what was assigned, what was closed and how, and where they end.

    `latest_ms` is the latest time that an event tells, 0 if none does; `fees_mist` is what this
    leader has earned. `executions` says of each whether it names this leader now, or not any more;
    `steps` are the events, in their order, that may leave something to do in one, and `schedules`
    those that may make something due, each with its place.
    """

    cursor: Cursor
    assigned: list[Assignment] = field(default_factory=list)
    closed: dict[Address, Closed] = field(default_factory=dict)
    executions: dict[Address, bool] = field(default_factory=dict)
    steps: list[RegistryEvent] = field(default_factory=list)
    schedules: list[tuple[RegistryEvent, Cursor]] = field(default_factory=list)
    latest_ms: int = 0
    fees_mist: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing but the cursor has moved."""
        happened = self.assigned or self.closed or self.executions or self.steps
        return not (happened or self.schedules)

    @classmethod
    def read(cls, items: Iterable[Item], deployment: Deployment, leader: Address) -> "EventPage":
        """The page of these items, one at least."""
        page = cls(Cursor.beginning())
        for item in items:
            page.cursor = item.cursor
            if isinstance(item, EventRecord):
                event = parse_event(deployment, item.event)
                if event is not None:
                    cls.MEANINGS[type(event)](page, event, leader)
        return page

    # --- Invocations

    def _requested(self, event: InvocationRequested, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.requested_at_ms)
        mine = assignment(event, leader)
        if mine is not None:
            self.assigned.append(mine)
        if event.attempt is not None:
            self.steps.append(event)
            if leader in event.leaders:
                self.executions[event.attempt.execution] = True

    def _settled(self, event: InvocationSettled, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.settled_at_ms)
        self._closed_by(event, leader, Closed.SETTLED)

    def _failed(self, event: InvocationFailed, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.failed_at_ms)
        self._closed_by(event, leader, Closed.FAILED)

    def _closed_by(
        self, event: InvocationSettled | InvocationFailed, leader: Address, closed: Closed
    ) -> None:
        mine = event.leader == leader
        self.closed[event.invocation] = closed if mine else Closed.ELSEWHERE
        self.steps.append(event)
        if mine:
            self.fees_mist += event.fee_mist

    def _expired(self, event: InvocationExpired, _leader: Address) -> None:
        self.closed[event.invocation] = Closed.MISSED
        self.steps.append(event)

    def _deleted(self, event: InvocationDeleted, _leader: Address) -> None:
        self.closed.setdefault(event.invocation, Closed.ELSEWHERE)

    # --- Executions

    def _begun(self, event: ExecutionBegun, leader: Address) -> None:
        if leader in event.leaders:
            self.executions[event.execution] = True
            self.steps.append(event)

    def _leaders_changed(self, event: ExecutionLeadersChanged, leader: Address) -> None:
        self.executions[event.execution] = leader in event.leaders
        self.steps.append(event)

    def _ended(self, event: ExecutionEnded, _leader: Address) -> None:
        self.executions[event.execution] = False
        self.steps.append(event)
        self.schedules.append((event, self.cursor))

    def _stepped(self, event: RegistryEvent, _leader: Address) -> None:
        self.steps.append(event)

    # --- Schedules

    def _scheduled(self, event: RegistryEvent, _leader: Address) -> None:
        self.schedules.append((event, self.cursor))

    MEANINGS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        InvocationRequested: _requested,
        InvocationSettled: _settled,
        InvocationFailed: _failed,
        InvocationExpired: _expired,
        InvocationDeleted: _deleted,
        ExecutionBegun: _begun,
        ExecutionLeadersChanged: _leaders_changed,
        ExecutionEnded: _ended,
        ExecutionAdvanced: _stepped,
        RunRefused: _stepped,
        RegionGathered: _stepped,
        ExecutionShort: _stepped,
        ExecutionRefilled: _stepped,
        ExecutionStopped: _stepped,
        ScheduleCreated: _scheduled,
        ScheduleTriggered: _scheduled,
        ScheduleCollected: _scheduled,
        ScheduleActivityChanged: _scheduled,
        ScheduleLeadersChanged: _scheduled,
        ScheduleRefilled: _scheduled,
        ScheduleExtended: _scheduled,
        ScheduleCursorReset: _scheduled,
        ScheduleCancelled: _scheduled,
    }
    """What each kind of event means."""


KINDS: tuple[type[RegistryEvent], ...] = tuple(EventPage.MEANINGS)
"""The events that a leader follows."""


async def in_pages(items: AsyncIterator[Item]) -> AsyncGenerator[list[Item], None]:
    """What has come since the last page was asked for, one item at least."""
    queue: asyncio.Queue[Item] = asyncio.Queue(_PAGE_ITEMS)

    async def pump() -> None:
        async for item in items:
            await queue.put(item)

    pumping = asyncio.create_task(pump())
    arriving = asyncio.create_task(queue.get())
    try:
        while True:
            await asyncio.wait((arriving, pumping), return_when=asyncio.FIRST_COMPLETED)
            if not arriving.done():
                pumping.result()
                return
            page = [arriving.result()]
            while not queue.empty():
                page.append(queue.get_nowait())
            yield page
            arriving = asyncio.create_task(queue.get())
    finally:
        for task in (pumping, arriving):
            task.cancel()
        await asyncio.wait((pumping, arriving))
