"""The rules of schedules as pure arithmetic: payments of keepers and refunds.

Source: `schedule.move` and `timing.move`.
"""

from dataclasses import dataclass

from nexus_tools.contracts import ports_of
from nexus_tools.workflow import DEFAULT_GROUP, Status
from tests.economics.counted_execution import NUMBER_BYTES, RUN_BYTES
from tests.economics.execution_rules import RuledClock, RuledExecution
from tests.economics.fee_rules import BYTE_MIST

WINDOW_MS, DAY_MS = 10_000, 86_400_000
KEEPING_UNITS, FURTHER_UNITS, ENTRY_UNITS, BYTES_PER_UNIT = 1_200, 150, 10, 200
KEEPING_MIST = 300_000
TERMS_BYTES, ENTRY_BYTES, CURSOR_BYTES, MOST_BYTES = 275, 276, 24, 500
BEGUN_BYTES, ENDED_BYTES = 385, 8
"""The storage bytes of a starting execution, and of the time of its end."""
LEADER_BYTES, TOOL_BYTES, FIXED_BYTES = 32, 8, 131
"""The bytes of the terms: for each leader, for each tool, and others."""
LAST_CURSOR = (2**64 - 1,) * 3


@dataclass(frozen=True)
class PlannedTimes:
    """Planned times in ms. Without any, events make a schedule due."""

    times: tuple[int, ...] = ()
    interval_ms: int | None = None
    pause_ms: int = 0
    max_per_day: int = 0

    @property
    def is_on_event(self):
        """Whether events make it due."""
        return not self.times

    def next(self, from_ms):
        """Return the first planned time that is not before a time, or None."""
        if self.is_on_event:
            return from_ms
        return next((time for time in self.times if time >= from_ms), None)

    def after(self, now_ms, begun_today):
        """Return the next due time after an execution that started now."""
        if not self.is_on_event:
            return self.next(now_ms + 1)
        tomorrow_ms = (now_ms // DAY_MS + 1) * DAY_MS
        return max(tomorrow_ms if begun_today >= self.max_per_day else 0, now_ms + self.pause_ms)

    def due(self, next_at_ms, now_ms):
        """Return the planned time that is due, or None."""
        if next_at_ms is None or now_ms < next_at_ms:
            return None
        return next_at_ms if self.is_on_event else max(t for t in self.times if t <= now_ms)


@dataclass
class KeeperPaid:
    """The payment of a transaction to its keeper."""

    fees_mist: int = 0
    stored_mist: int = 0
    earned_mist: int = 0
    """The keeper fees that the owners chose, which `fees_mist` include."""
    begun: int = 0
    others: int = 0
    """Executions that were collected, and triggers that began nothing."""

    @property
    def mist(self):
        """The total payment."""
        return self.fees_mist + self.stored_mist


class RuledSchedule:
    """One schedule by the rules."""

    def __init__(self, order, fees, clock):
        self.order, self.fees, self.clock = order, fees, clock
        self.funds_mist, self.given_mist = order.funds_mist, order.funds_mist
        self.next_at_ms = order.timing.next(0)
        self.cursor, self.executions, self.collected = None, [], set()
        self.begun = self.running = self.day = self.begun_today = self.failures = 0
        self.paid_mist = self.refunded_mist = 0
        self.is_paused = self.is_cancelled = False

    def trigger(self, place, cursor, paid):
        """Start the due execution in the window of a place, and return whether it started."""
        order, now_ms = self.order, self.clock.now_ms
        if order.timing.is_on_event and self.cursor is not None and cursor <= self.cursor:
            return False
        is_over = order.max_executions is not None and self.begun >= order.max_executions
        is_taken = self.running > 0 and not order.overlaps
        if self.is_paused or self.is_cancelled or is_over or is_taken:
            return False
        planned_ms = order.timing.due(self.next_at_ms, now_ms)
        if planned_ms is None or now_ms - planned_ms < place * WINDOW_MS:
            return False
        if self.funds_mist < self.needed_mist:
            return False
        self._begin(cursor, paid)
        return True

    @property
    def needed_mist(self):
        """The funds needed to start an execution."""
        stored = MOST_BYTES + self.order.stored_bytes + self.order.most_begun_bytes
        return (
            self.order.funds_per_execution_mist + self._fee_mist(KEEPING_UNITS) + stored * BYTE_MIST
        )

    def _begin(self, cursor, paid):
        order, now_ms = self.order, self.clock.now_ms
        execution = order.ruled(self.fees, self.clock)
        written = execution.begin(order.values, is_scheduled=True, **order.terms)
        stored = BEGUN_BYTES + written + order.stored_bytes
        stored += ENDED_BYTES if execution.has_ended else 0
        stored += CURSOR_BYTES if order.timing.is_on_event and self.cursor is None else 0
        # The first object that a transaction creates is an execution that pays for all of it.
        fee_mist = self._fee_mist(FURTHER_UNITS if paid.begun else KEEPING_UNITS)
        paid.fees_mist += fee_mist
        paid.stored_mist += stored * BYTE_MIST
        paid.earned_mist += order.keeper_fee_mist
        paid.begun += 1
        self.paid_mist += fee_mist + stored * BYTE_MIST
        self.funds_mist -= order.funds_per_execution_mist + fee_mist + stored * BYTE_MIST
        today = now_ms // DAY_MS
        self.begun_today = self.begun_today + 1 if today == self.day else 1
        self.day = today
        self.next_at_ms = order.timing.after(now_ms, self.begun_today)
        self.cursor = cursor if order.timing.is_on_event else None
        self.begun += 1
        self.running += 1
        self.executions.append(execution)

    def _fee_mist(self, base_units):
        order = self.order
        units = base_units + ENTRY_UNITS * order.entries + order.values_bytes // BYTES_PER_UNIT
        return units * self.fees.gas_price + KEEPING_MIST + order.keeper_fee_mist

    def collectable(self):
        """Return the numbers of executions that have ended or that anyone can end."""
        return [
            number
            for number, execution in enumerate(self.executions)
            if number not in self.collected
            and (
                execution.has_ended
                or (execution.is_late and not execution.requests and not execution.closed)
            )
        ]

    def collect(self, number):
        """Collect the leftover funds of an execution, which ends first if it is late."""
        execution = self.executions[number]
        execution.expire()
        self.collected.add(number)
        self._take_back(execution)
        self.running -= 1
        if not self.order.overlaps:
            self._go_on_from(min(execution.ended_at_ms, execution.deadline_ms) + 1)
        status = execution.semantics.status
        if status is Status.COMPLETED:
            self.failures = 0
        elif status is not Status.CANCELLED:
            self.failures += 1
            self.is_paused = self.is_paused or self.failures == self.order.max_failures

    def _take_back(self, execution):
        if self.is_cancelled:
            self.refunded_mist += execution.funds_mist
        else:
            self.funds_mist += execution.funds_mist
        execution.refunded_mist += execution.funds_mist
        execution.funds_mist = 0

    def _go_on_from(self, from_ms):
        if self.next_at_ms is not None and self.next_at_ms < from_ms:
            self.next_at_ms = self.order.timing.next(from_ms)

    def pause(self):
        """Stop starting executions."""
        self.is_paused = True

    def resume(self):
        """Continue with the times planned from now on."""
        self.is_paused, self.failures = False, 0
        self._go_on_from(self.clock.now_ms)

    def reset_cursor(self):
        """Let events count from now on."""
        self.cursor = None
        self._go_on_from(self.clock.now_ms)

    def cancel(self):
        """Stop starting executions, and pay the funds to the owner."""
        self.is_cancelled = True
        self.refunded_mist += self.funds_mist
        self.funds_mist = 0


@dataclass(frozen=True)
class RuledOrder:
    """The terms that the owner of a schedule accepts."""

    story: object
    timing: PlannedTimes
    terms: dict
    funds_mist: int
    keeper_fee_mist: int
    leaders: int
    overlaps: bool
    max_failures: int
    max_executions: int | None

    @property
    def values(self):
        """The entry values by vertex and port."""
        return self.story.values

    @property
    def funds_per_execution_mist(self):
        """The funds of each execution."""
        return self.terms["funds_mist"]

    def ruled(self, fees, clock):
        """Return an execution before its start."""
        story = self.story
        options = {"clock": clock, "leaders": self.leaders}
        return RuledExecution(story.document, story.plan, story.kind_of, fees, **options)

    @property
    def values_bytes(self):
        """The bytes of all entry values."""
        return sum(ports_of(ports).size() for ports in self.values.values())

    @property
    def entries(self):
        """The number of vertices with entry values, and of those in the group."""
        return len(self.values) + len(self.story.plan.groups[DEFAULT_GROUP])

    @property
    def stored_bytes(self):
        """The bytes of the terms and the entry values of an execution."""
        tools = {vertex.vertex.fqn for vertex in self.story.plan.vertices.values()}
        terms = FIXED_BYTES + LEADER_BYTES * self.leaders + TOOL_BYTES * len(tools)
        return TERMS_BYTES + terms + ENTRY_BYTES * len(self.values) + self.values_bytes

    @property
    def most_begun_bytes(self):
        """The most bytes of records that a start writes."""
        plan = self.story.plan
        vertices = [plan.vertices[name] for name in plan.groups[DEFAULT_GROUP]]
        return sum(RUN_BYTES + NUMBER_BYTES * len(vertex.blocks) for vertex in vertices)


class RuledKeeping:
    """Several schedules by the rules, with one clock.

    `paid` lists the payments of keepers' transactions. `ended` lists the schedules and numbers of
    the executions that the last one collected, and whether it expired them first.
    """

    def __init__(self, orders, fees, now_ms):
        self.clock, self.paid, self.ended = RuledClock(now_ms), [], []
        self.schedules = [RuledSchedule(order, fees, self.clock) for order in orders]

    def begin(self):
        """Create the schedules."""

    def pass_time(self, milliseconds):
        """Let time pass."""
        self.clock.now_ms += milliseconds

    def trigger(self, numbers, place, cursor):
        """Collect ended executions and trigger schedules, in one transaction of one keeper."""
        self.paid.append(KeeperPaid())
        self.ended, paid = [], self.paid[-1]
        for position, number in enumerate(numbers):
            # A transaction cannot collect an execution that it shares itself.
            if number not in numbers[:position]:
                self._collect(number)
            paid.others += not self.schedules[number].trigger(place, cursor, paid)
        paid.others += len(self.ended)

    def collect(self, number):
        """Collect everything possible from a schedule."""
        self.ended = []
        self._collect(number)

    def _collect(self, number):
        schedule = self.schedules[number]
        for entry in schedule.collectable():
            expires = not schedule.executions[entry].has_ended
            self.ended.append((number, entry, expires))
            schedule.collect(entry)

    def change(self, number, verb):
        """Let the owner pause, resume, reset or cancel a schedule."""
        getattr(self.schedules[number], verb)()

    def running(self):
        """Return the executions that have not ended, by schedule and number."""
        return [
            (number, place)
            for number, schedule in enumerate(self.schedules)
            for place, execution in enumerate(schedule.executions)
            if not execution.has_ended
        ]

    def execution(self, number, place):
        """Return an execution."""
        return self.schedules[number].executions[place]
