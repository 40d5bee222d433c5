"""Which events are decoded: none that concerns only others, and all that change the Leader's state.

The second claim is checked with random events of all types. One Leader decodes all of them, and the
other one only those that may concern it. Both must then have the same state.
"""

import asyncio
import random
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from nexus_tools.contracts import Deployment, parse_event
from nexus_tools.contracts.move_bindings import invocation as tools
from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as schedules
from nexus_tools.contracts.move_bindings.workflows import timing
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.contracts.move_bindings.workflows.records import Instance
from nexus_tools.leader.executions.execution_runner import ExecutionRunner
from nexus_tools.leader.intake.event_page import KINDS, EventPage
from nexus_tools.leader.intake.relevance import Relevance
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.schedule_runner import ScheduleRunner
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event

pytestmark = pytest.mark.anyio

DEPLOYMENT = Deployment(
    *map(Address.of, range(0x10, 0x15)),
    "chain",
    workflows_id=Address.of(0x16),
    workflows_original_id=Address.of(0x16),
)
ME, OTHER, THIRD = map(Address.of, (0x21, 0x22, 0x23))
TOOL, USER, DAG = map(Address.of, (0x31, 0x32, 0x33))
INVOCATIONS = [Address.of(0xA0 + number) for number in range(8)]
EXECUTIONS = [Address.of(0xB0 + number) for number in range(4)]
SCHEDULES = [Address.of(0xC0 + number) for number in range(4)]
FQN = "xyz.example.math.add@1"
NOW_MS = 10_000
PLAN = timing.Timing(timing.Plan.OnEvent("0x2::a::B", 0, 9), None)


def record(place, value):
    """Return the record of an event at a checkpoint."""
    tag = DEPLOYMENT.type_of(type(value))
    event = Event(tag.address, tag.module, USER, tag, type(value).bcs.encode(value))
    return EventRecord(Cursor(place, 0, 0), event, place, Digest(b"\1" * 32), 0)


def requested(chance, invocation, leaders, at_ms, *, attempt=None):
    settlement = chance.choice([Settlement.Leader(), Settlement.Signature((b"k" * 32,))])
    times = at_ms, 500, at_ms + 60_000
    amounts = 0, 0, 100
    return tools.InvocationRequested(
        *(invocation, TOOL, FQN, USER, leaders, *times, *amounts, settlement, 1, attempt)
    )


def random_event(kind, chance, at_ms, leaders_of):
    """Return an event of a type, about random subjects, at a time.

    `leaders_of` are the leaders of each running execution. A request of an execution names some of
    them, and an execution has no events after its end.
    """
    invocation, schedule = chance.choice(INVOCATIONS), chance.choice(SCHEDULES)
    leaders = tuple(chance.sample([ME, OTHER, THIRD], chance.randint(1, 2)))
    execution = chance.choice(list(leaders_of))
    if kind in (executions.ExecutionStarted, executions.ExecutionEnded):
        del leaders_of[execution]
        leaders_of[Address.of(0xB000 + at_ms)] = leaders
    if kind is executions.ExecutionStarted:
        execution = Address.of(0xB000 + at_ms)
    if kind is executions.ExecutionLeadersChanged:
        leaders_of[execution] = leaders
    run = Run(chance.randrange(3), tuple(chance.sample(range(9), chance.randrange(3))))
    ready = (run,) if chance.random() < 0.5 else ()
    change = Change(ready, (), (), ())
    attempt = Attempt(execution, run, 1, 0, 0) if chance.random() < 0.5 else None
    of_tool = invocation, TOOL, FQN, USER
    values = {
        tools.InvocationSettled: (*of_tool, leaders[0], "ok", at_ms, at_ms, USER, 0, 4, 1),
        tools.InvocationFailed: (*of_tool, leaders[0], "timed_out", "late", at_ms, 2, 0),
        tools.InvocationExpired: (*of_tool, leaders, 0),
        tools.InvocationDeleted: (*of_tool, leaders[0], False),
        executions.ExecutionStarted: (
            *(execution, DAG, FQN, USER, None, leaders, 0, 5, at_ms + 90_000, change),
        ),
        executions.ExecutionLeadersChanged: (execution, leaders),
        executions.ExecutionEnded: (execution, DAG, USER, "completed", 1, 0, at_ms),
        executions.ExecutionAdvanced: (execution, invocation, run, change),
        executions.RunRefused: (execution, run, "no_leader", change),
        executions.RegionGathered: (execution, Instance(0, ()), change),
        executions.ExecutionUnderfunded: (execution, USER, 5, 4),
        executions.ExecutionRefilled: (execution, 1, 5),
        executions.ExecutionStopped: (execution, "cancelled"),
        schedules.ScheduleCreated: (schedule, DAG, FQN, USER, leaders, PLAN, None, 1, 1, 1),
        schedules.ScheduleTriggered: (schedule, execution, USER, 0, 0, None, None, 0, 0, 0),
        schedules.ScheduleCollected: (schedule, execution, "completed", 0, 0, 0, False),
        schedules.ScheduleActivityChanged: (schedule, True, None),
        schedules.ScheduleLeadersChanged: (schedule, leaders),
        schedules.ScheduleRefilled: (schedule, 1, 1),
        schedules.ScheduleExtended: (schedule, None, None),
        schedules.ScheduleCursorReset: (schedule, None),
        schedules.ScheduleCancelled: (schedule, 0),
    }
    if kind is tools.InvocationRequested:
        if attempt is not None:
            leaders = leaders_of[execution][: chance.randint(1, 2)]
        return requested(chance, invocation, leaders, at_ms, attempt=attempt)
    return kind(*values[kind])


class DecodeAll(Relevance):
    """The test of a Leader that decodes every event."""

    def may_concern(self, _event):
        return True

    def concerns(self, _event, _parsed):
        return True


class StoppedClock:
    """A clock that never reaches a later time, so that no planned step is executed."""

    def now_ms(self):
        return NOW_MS

    async def wait_until(self, _moment_ms):
        await asyncio.Event().wait()


async def pending(_entry):
    await asyncio.Event().wait()


@dataclass
class Intake:
    """The components of a Leader that events change."""

    journal: Journal
    workload: Workload
    executions: ExecutionRunner
    schedules: ScheduleRunner
    relevance: Relevance

    @classmethod
    async def create(cls, path, config, group, kind):
        journal, metrics, clock = await Journal.open(path, "me"), LeaderMetrics(), StoppedClock()
        queue = SimpleNamespace(withdraw=lambda *_: False, is_under_way=lambda _: False)
        workload = Workload(
            *(group, SimpleNamespace(dispatch=pending), queue),
            closed=SimpleNamespace(add=lambda *_: None),
            metrics=metrics,
            capacity=100,
        )
        shared = {"journal": journal, "clock": clock, "metrics": metrics}
        runner = ExecutionRunner(config, group, None, None, leader=ME, **shared)
        chain = SimpleNamespace(leader=ME)
        keeper = ScheduleRunner(config, group, chain, None, **shared)
        parts = workload, runner, keeper
        relevance = kind(
            ME,
            lambda subject: any(part.is_tracked(subject) for part in parts),
            runner.has_executions,
        )
        return cls(journal, workload, runner, keeper, relevance)

    async def take(self, items):
        """Apply a page of events as the Leader does. Return its cursor, latest time and fees."""
        page = EventPage.read(items, DEPLOYMENT, ME, self.relevance)
        new = await self.journal.record_events(
            *(page.assigned, page.closed, str(page.cursor), NOW_MS, page.executions),
            schedules=page.namings,
        )
        self.workload.drop(page.closed)
        self.executions.observe(page)
        self.schedules.observe(page)
        await self.workload.start(new)
        await asyncio.sleep(0)  # the tasks of closed invocations end
        await asyncio.sleep(0)
        return page.cursor, page.latest_ms, page.fees_mist

    async def state(self):
        """Return everything that events may have changed."""
        runner, assigned = self.executions, self.schedules._assigned
        return {
            "tasks": set(self.workload._tasks),
            "steps": {id_: (e.place, e.due, e.is_short) for id_, e in runner._tracked.items()},
            "attempts": runner._execution_of_invocation,
            "schedules": {
                id_: (e.since, e.owner, e.started) for id_, e in assigned._assigned.items()
            },
            "checks": {entry.id: at_ms for entry, at_ms in assigned._due.items()},
            "started": set(assigned._schedule_of),
            "journal": await self.journal.recover(),
            "closed": await self.journal.closed_early(0),
        }

    async def close(self):
        """End all tasks."""
        self.executions.stop()
        for task, _ in self.workload._tasks.values():
            task.cancel()
        await self.journal.close()


@pytest.mark.parametrize("seed", range(12))
async def test_skipped_events_would_not_have_changed_anything(seed, config, tmp_path):
    chance = random.Random(seed)
    async with asyncio.TaskGroup() as group:
        full = await Intake.create(tmp_path / "full", config, group, DecodeAll)
        lean = await Intake.create(tmp_path / "lean", config, group, Relevance)
        at_ms, leaders_of = 0, dict.fromkeys(EXECUTIONS[: 1 + seed % 4], (OTHER, ME))
        for _ in range(80):
            page = []
            for _ in range(chance.choice((1, 4, 40))):
                at_ms += 1
                event = random_event(chance.choice(KINDS), chance, at_ms, leaders_of)
                page.append(record(at_ms, event))
            assert await lean.take(page) == await full.take(page)
            lean_state, full_state = await lean.state(), await full.state()
            for name in full_state:
                assert lean_state[name] == full_state[name], name
            schedule = chance.choice(SCHEDULES)
            for intake in (full, lean):
                intake.schedules._assigned._due.clear()  # the checks have ended
                # A check may read a schedule on chain before its event arrives.
                intake.schedules._assigned.forget(schedule)
        await full.close()
        await lean.close()


# --- The number of decoded events


@pytest.fixture
def decoded(monkeypatch):
    """Return the types of the events that pages decode."""
    types = []

    def counted(deployment, event):
        types.append(event.type.name)
        return parse_event(deployment, event)

    monkeypatch.setattr("nexus_tools.leader.intake.event_page.parse_event", counted)
    return types


def invocations_of_others(count):
    """Return the records of `count` invocations that others request, close and delete."""
    chance, records = random.Random(1), []
    for number in range(count):
        id_ = Address.of(0x10_000 + number)
        of_tool = id_, TOOL, FQN, USER
        values = (
            requested(chance, id_, (OTHER, THIRD), number),
            tools.InvocationSettled(*of_tool, OTHER, "ok", number, number, USER, 0, 4, 1),
            tools.InvocationDeleted(*of_tool, OTHER, True),
        )
        records += [record(number, value) for value in values]
    return records


def read(records, *tracked, has_executions=False):
    relevance = Relevance(ME, set(tracked).__contains__, lambda: has_executions)
    return EventPage.read(records, DEPLOYMENT, ME, relevance)


def test_page_decodes_one_event_of_many_foreign_invocations(decoded):
    page = read(invocations_of_others(100))
    assert decoded == ["InvocationSettled"]
    assert page.latest_ms == 99
    assert page.is_empty


def test_page_decodes_events_of_a_tracked_invocation(decoded):
    page = read(invocations_of_others(100), Address.of(0x10_007))
    assert list(page.closed) == [Address.of(0x10_007)]
    assert decoded == ["InvocationSettled", "InvocationDeleted", "InvocationSettled"]


def test_requests_are_decoded_while_an_execution_is_tracked(decoded):
    read(invocations_of_others(10), has_executions=True)
    assert decoded.count("InvocationRequested") == 10
    assert len(decoded) == 11


def test_page_decodes_events_that_name_the_leader_only_in_text(decoded):
    """Anyone can make the Leader decode an event, but the event has no effect."""
    values = Address.of(1), TOOL, FQN, USER, OTHER, "failed", f"{bytes(ME).decode()}", 5, 2, 0
    page = read([record(1, tools.InvocationFailed(*values))])
    assert decoded == ["InvocationFailed"]
    assert page.fees_mist == 0
    assert page.assigned == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_about_a_tracked_subject_is_decoded(kind, decoded):
    event = random_event(kind, random.Random(3), 5, dict.fromkeys(EXECUTIONS, (OTHER,)))
    subjects = ("invocation", "execution", "schedule")
    known = [getattr(event, name) for name in subjects if getattr(event, name, None)]
    assert known
    for subject in known:
        decoded.clear()
        read([record(1, event)], subject, has_executions=True)
        assert decoded == [kind.__name__]
