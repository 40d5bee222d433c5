"""Pages of events, sorted by their meaning for one leader."""

from collections.abc import Callable, Mapping, Sequence
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
    ExecutionEnded,
    ExecutionLeadersChanged,
    ExecutionRefilled,
    ExecutionStarted,
    ExecutionStopped,
    ExecutionUnderfunded,
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
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.intake.relevance import Relevance
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange
from nexus_tools.sui.client import Cursor, EventRecord, Progress
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event

Item = EventRecord | Progress

_TIMES = {
    InvocationRequested.__name__: "requested_at_ms",
    InvocationSettled.__name__: "settled_at_ms",
    InvocationFailed.__name__: "failed_at_ms",
}
"""The field with the time of an event, by the name of the event."""


@dataclass(slots=True)
class EventPage:
    """A page of consecutive events, sorted by their meaning, and the cursor after the last event.

    `attempts` are the requested invocations that belong to executions. `latest_ms` is the latest
    time in an event, or 0 if no event contains a time. `fees_mist` is the sum of the fees that this
    leader earned. The values of `executions` are True for an execution that names this leader and
    has not ended. `steps` contains the events that may create or complete steps of executions, in
    order. `schedules` contains the events after which a schedule may be due, each with its cursor.
    `namings` contains the changes of the schedules that name this leader, in order.
    """

    cursor: Cursor
    assigned: list[Assignment] = field(default_factory=list)
    attempts: set[Address] = field(default_factory=set)
    closed: dict[Address, ClosureKind] = field(default_factory=dict)
    executions: dict[Address, bool] = field(default_factory=dict)
    steps: list[RegistryEvent] = field(default_factory=list)
    schedules: list[tuple[RegistryEvent, Cursor]] = field(default_factory=list)
    namings: list[ScheduleChange] = field(default_factory=list)
    latest_ms: int = 0
    fees_mist: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the page contains only a new cursor."""
        happened = self.assigned or self.closed or self.executions or self.steps
        return not (happened or self.schedules)

    @classmethod
    def read(
        cls, items: Sequence[Item], deployment: Deployment, leader: Address, relevance: Relevance
    ) -> "EventPage":
        """Create a page from `items`, which must contain at least one item.

        Events that cannot concern the leader are not parsed, except the last one with a time.
        """
        page = cls(Cursor.beginning())
        own = _own_events(items, deployment, relevance)
        skipped: Event | None = None
        for place, item in enumerate(items):
            page.cursor = item.cursor
            if not isinstance(item, EventRecord):
                continue
            event = own.get(place)
            if event is None and relevance.may_concern(item.event):
                event = parse_event(deployment, item.event)
            if event is not None and relevance.concerns(item.event, event):
                cls.HANDLERS[type(event)](page, event, leader)
            elif item.event.type.name in _TIMES:
                skipped = item.event
        if skipped is not None and (event := parse_event(deployment, skipped)) is not None:
            # The chain's clock never goes back, so earlier events do not have a later time.
            page.latest_ms = max(page.latest_ms, getattr(event, _TIMES[type(event).__name__]))
        return page

    # --- Invocations

    def _requested(self, event: InvocationRequested, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.requested_at_ms)
        own_assignment = assignment(event, leader)
        if own_assignment is not None:
            self.assigned.append(own_assignment)
        if event.attempt is not None:
            self.attempts.add(event.invocation)
            self.steps.append(event)
            if leader in event.leaders:
                self.executions[event.attempt.execution] = True

    def _settled(self, event: InvocationSettled, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.settled_at_ms)
        self._closed_by(event, leader, ClosureKind.SETTLED)

    def _failed(self, event: InvocationFailed, leader: Address) -> None:
        self.latest_ms = max(self.latest_ms, event.failed_at_ms)
        self._closed_by(event, leader, ClosureKind.FAILED)

    def _closed_by(
        self, event: InvocationSettled | InvocationFailed, leader: Address, closed: ClosureKind
    ) -> None:
        is_own = event.leader == leader
        self.closed[event.invocation] = closed if is_own else ClosureKind.ELSEWHERE
        self.steps.append(event)
        if is_own:
            self.fees_mist += event.fee_mist

    def _expired(self, event: InvocationExpired, _leader: Address) -> None:
        self.closed[event.invocation] = ClosureKind.MISSED
        self.steps.append(event)

    def _deleted(self, event: InvocationDeleted, _leader: Address) -> None:
        self.closed.setdefault(event.invocation, ClosureKind.ELSEWHERE)

    # --- Executions

    def _started(self, event: ExecutionStarted, leader: Address) -> None:
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

    def _keep_step(self, event: RegistryEvent, _leader: Address) -> None:
        self.steps.append(event)

    # --- Schedules

    def _keep_schedule_event(self, event: RegistryEvent, _leader: Address) -> None:
        self.schedules.append((event, self.cursor))

    def _schedule_leaders_set(
        self, event: ScheduleCreated | ScheduleLeadersChanged, leader: Address
    ) -> None:
        self.schedules.append((event, self.cursor))
        naming = Naming.NAMED if leader in event.leaders else Naming.NOT_NAMED
        self.namings.append(ScheduleChange(event.schedule, naming, self.cursor))

    def _schedule_reset(self, event: ScheduleCursorReset, _leader: Address) -> None:
        self.schedules.append((event, self.cursor))
        self.namings.append(ScheduleChange(event.schedule, Naming.RESET, self.cursor))

    def _schedule_cancelled(self, event: ScheduleCancelled, _leader: Address) -> None:
        self.schedules.append((event, self.cursor))
        self.namings.append(ScheduleChange(event.schedule, Naming.NOT_NAMED, self.cursor))

    HANDLERS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        InvocationRequested: _requested,
        InvocationSettled: _settled,
        InvocationFailed: _failed,
        InvocationExpired: _expired,
        InvocationDeleted: _deleted,
        ExecutionStarted: _started,
        ExecutionLeadersChanged: _leaders_changed,
        ExecutionEnded: _ended,
        ExecutionAdvanced: _keep_step,
        RunRefused: _keep_step,
        RegionGathered: _keep_step,
        ExecutionUnderfunded: _keep_step,
        ExecutionRefilled: _keep_step,
        ExecutionStopped: _keep_step,
        ScheduleCreated: _schedule_leaders_set,
        ScheduleTriggered: _keep_schedule_event,
        ScheduleCollected: _keep_schedule_event,
        ScheduleActivityChanged: _keep_schedule_event,
        ScheduleLeadersChanged: _schedule_leaders_set,
        ScheduleRefilled: _keep_schedule_event,
        ScheduleExtended: _keep_schedule_event,
        ScheduleCursorReset: _schedule_reset,
        ScheduleCancelled: _schedule_cancelled,
    }
    """The handler of each type of event."""


def _own_events(
    items: Sequence[Item], deployment: Deployment, relevance: Relevance
) -> dict[int, RegistryEvent]:
    """Return the events of a page that contain the leader's ID, by their index in the page.

    The subjects of these events count for the whole page.
    """
    relevance.begin_page()
    own: dict[int, RegistryEvent] = {}
    for place, item in enumerate(items):
        if isinstance(item, EventRecord) and relevance.names_leader(item.event):
            event = parse_event(deployment, item.event)
            if event is not None and relevance.concerns(item.event, event):
                own[place] = event
    return own


KINDS: tuple[type[RegistryEvent], ...] = tuple(EventPage.HANDLERS)
"""The types of events that a leader follows."""
