"""What a page of events means for one leader."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from nexus_tools.client import Cursor, EventRecord, Progress
from nexus_tools.leader.assignment import Assignment, assignment
from nexus_tools.leader.closing import Closed
from nexus_tools.package import Deployment, RegistryEvent, parse_event
from nexus_tools.package.move.invocation import (
    InvocationDeleted,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.sui.address import Address

KINDS: tuple[type[RegistryEvent], ...] = (
    InvocationRequested,
    InvocationSettled,
    InvocationFailed,
    InvocationExpired,
    InvocationDeleted,
)
"""The events that a leader follows."""


@dataclass(slots=True)
class EventPage:
    """Events in a row: what was assigned, what was closed and how, and where they end.

    `latest_ms` is the latest time that an event tells, 0 if none does; `fees_mist` is what this
    leader has earned.
    """

    cursor: Cursor
    assigned: list[Assignment] = field(default_factory=list)
    closed: dict[Address, Closed] = field(default_factory=dict)
    latest_ms: int = 0
    fees_mist: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing but the cursor has moved."""
        return not self.assigned and not self.closed

    @classmethod
    def read(
        cls, items: Iterable[EventRecord | Progress], deployment: Deployment, leader: Address
    ) -> "EventPage":
        """The page of these items, one at least."""
        page = cls(Cursor.beginning())
        for item in items:
            page.cursor = item.cursor
            if isinstance(item, EventRecord):
                page._add(parse_event(deployment, item.event), leader)
        return page

    def _add(self, event: RegistryEvent | None, leader: Address) -> None:
        if isinstance(event, InvocationRequested):
            self.latest_ms = max(self.latest_ms, event.requested_at_ms)
            mine = assignment(event, leader)
            if mine is not None:
                self.assigned.append(mine)
        elif isinstance(event, InvocationSettled):
            self.latest_ms = max(self.latest_ms, event.settled_at_ms)
            self._close(event, leader, Closed.SETTLED)
        elif isinstance(event, InvocationFailed):
            self.latest_ms = max(self.latest_ms, event.failed_at_ms)
            self._close(event, leader, Closed.FAILED)
        elif isinstance(event, InvocationExpired):
            self.closed[event.invocation] = Closed.MISSED
        elif isinstance(event, InvocationDeleted):
            self.closed.setdefault(event.invocation, Closed.ELSEWHERE)

    def _close(
        self, event: InvocationSettled | InvocationFailed, leader: Address, closed: Closed
    ) -> None:
        mine = event.leader == leader
        self.closed[event.invocation] = closed if mine else Closed.ELSEWHERE
        if mine:
            self.fees_mist += event.fee_mist
