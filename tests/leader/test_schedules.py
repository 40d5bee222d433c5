"""Schedules that a Leader triggers on the localnet, and whose executions it runs."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import UnreachableError, WrongStateError
from nexus_tools.leader.schedules import event_triggers, triggers
from nexus_tools.leader.schedules.schedule_runner import ScheduleRunner
from nexus_tools.leader.schedules.triggers import TriggerExecutor
from nexus_tools.registry import Schedules
from nexus_tools.registry.schedules import schedules as verbs
from nexus_tools.sui.client import Cursor, EventRecord, follow_events
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import DIALECT, Document, Vertex
from tests.leader.conftest import new_key

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000
PAUSE_MS = 10_000


class Number(Variant, name="ok"):
    result: int


tool_inputs = []


@tool("xyz.example.flow.double@1")
async def double(a: int) -> Number:
    """Doubles an integer."""
    tool_inputs.append(a)
    return Number(result=2 * a)


@pytest.fixture
async def leader(world, serve_tools):
    """Return a leader after serving the tool of the workflow."""
    tool_inputs.clear()
    url = await serve_tools(double)
    await world.register_tool(double.definition(f"{url}/{double.fqn}"))
    return await world.new_leader()


@pytest.fixture
def schedules(world):
    return Schedules(world.client, world.deployment)


@pytest.fixture
def create(world, leader, schedules):
    """Return a function that creates an hourly schedule of one vertex, starting in an hour."""

    async def create(timing=None, *, owned=schedules, **options):
        vertex = Vertex("one", str(double.fqn), entry_ports=("a",))
        workflow = await world.publish(Document((vertex,), (), dialect=DIALECT))
        first_at_ms = await world.client.now_ms() + HOUR_MS
        timing = timing or Timing(Plan.Every(HOUR_MS, first_at_ms, None), None)
        terms = {"funds_mist": 10**9, "leaders": [leader.id], "duration_ms": HOUR_MS}
        return (await owned.create(workflow, {"a": 21}, timing, **terms | options)).schedule

    return create


async def wait_for_events(world, kind, count):
    """Wait for `count` events of a kind, and return them."""
    results = []
    async with asyncio.timeout(60):
        kinds = event_filter(world.deployment, kind)
        async for item in follow_events(world.client, kinds, Cursor.beginning()):
            if isinstance(item, EventRecord):
                results.append(parse_event(world.deployment, item.event))
            if len(results) == count:
                return results
    raise AssertionError("events end")


async def test_due_execution_is_started_run_and_collected(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create()
        world.localnet.advance_clock(HOUR_MS)
        (ended,) = await wait_for_events(world, executions.ExecutionEnded, 1)
        assert (ended.status, tool_inputs) == ("completed", [42 // 2])
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    assert tool_inputs == [21, 21]
    first, second = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert (first.missed, second.missed) == (0, 0)
    (collected,) = await wait_for_events(world, moves.ScheduleCollected, 1)
    assert (collected.execution, collected.status) == (first.execution, "completed")
    assert (await schedules.get(schedule)).started == 2


async def test_executions_missed_while_off_start_once(world, leader, create):
    await create()
    world.localnet.advance_clock(5 * HOUR_MS)
    async with world.running(leader):
        await wait_for_events(world, executions.ExecutionEnded, 1)
    (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.missed == 4
    assert tool_inputs == [21]


async def needed_mist(create):
    """Return the funds required for the first execution, according to the refusal of less."""
    with pytest.raises(WrongStateError) as caught:
        await create(funds_mist=1)
    return caught.value.details["needed_mist"]


async def test_schedule_without_funds_starts_after_a_refill(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create(funds_mist=await needed_mist(create))
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        world.localnet.advance_clock(HOUR_MS)
        assert (await schedules.overview(schedule)).shortfall_mist
        await schedules.refill(schedule, 10**9)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    assert tool_inputs == [21, 21]


async def test_resumed_schedule_continues(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create()
        await schedules.pause(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await schedules.resume(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    assert tool_inputs == [21]


async def test_execution_started_by_another_leader_is_collected(world, leader, create, schedules):
    other = await world.new_leader("other")
    async with world.running(other):
        schedule = await create(leaders=[other.id])
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    async with world.running(leader):
        await schedules.set_leaders(schedule, [leader.id])
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    first, second = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert (first.keeper, second.keeper) == (other.key.address, leader.key.address)
    assert (await wait_for_events(world, moves.ScheduleCollected, 1))[
        0
    ].execution == first.execution


# --- Schedules by events


@pytest.fixture
def await_events(world, create):
    """Return a function that creates a schedule waiting for tool registrations or other events."""

    async def await_events(pause_ms=PAUSE_MS, event="ToolRegistered", **options):
        awaited = f"{world.deployment.original_id}::tool::{event}"
        return await create(timing=Timing(Plan.OnEvent(awaited, pause_ms, 100), None), **options)

    return await_events


@pytest.fixture
def emit_event(world):
    """Return a function that registers a tool, which emits an event."""

    async def emit_event(number):
        definition = double.definition(f"http://127.0.0.1:9/{number}")
        await world.register_tool(
            replace(definition, fqn=ToolFqn.parse(f"xyz.example.flow.wait_for_events{number}@1"))
        )

    return emit_event


async def test_event_starts_an_execution(world, leader, await_events, emit_event):
    async with world.running(leader):
        schedule = await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert (triggered.schedule, tool_inputs) == (schedule, [21])


async def test_leftover_funds_pay_for_the_next_event(
    world, leader, await_events, emit_event, schedules, create
):
    funds_per_execution_mist = await needed_mist(create)
    async with world.running(leader):
        schedule = await await_events(
            funds_per_execution_mist=funds_per_execution_mist,
            funds_mist=2 * funds_per_execution_mist,
        )
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        assert (await schedules.get(schedule)).funds_mist < funds_per_execution_mist
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(2)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    assert tool_inputs == [21, 21]


async def test_event_missed_while_off_starts_one_execution(world, leader, await_events, emit_event):
    schedule = await await_events(allow_overlap=True)
    await emit_event(1)
    for number in (1, 2):
        async with world.running(leader):
            await wait_for_events(world, executions.ExecutionEnded, number)
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(number + 1)
    triggered = await wait_for_events(world, moves.ScheduleTriggered, 2)
    places = [(event.cursor.checkpoint, event.cursor.transaction) for event in triggered]
    assert places[0] < places[1]
    assert {event.schedule for event in triggered} == {schedule}


async def test_events_before_creation_do_not_count(world, leader, await_events, emit_event):
    await emit_event(1)
    await await_events()
    async with world.running(leader):
        await emit_event(2)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.cursor.checkpoint > 0
    assert tool_inputs == [21]


async def test_events_during_a_pause_are_skipped(world, leader, await_events, emit_event):
    async with world.running(leader):
        await await_events(pause_ms=HOUR_MS)
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        await emit_event(2)
        world.localnet.advance_clock(HOUR_MS)
        await emit_event(3)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    assert len(tool_inputs) == 2


async def test_events_during_an_execution_are_skipped(world, leader, await_events, emit_event):
    await await_events()
    for number in range(3):
        await emit_event(number)
    async with world.running(leader):
        await wait_for_events(world, executions.ExecutionEnded, 1)
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(3)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    first, second = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert second.cursor.checkpoint >= first.cursor.checkpoint + 3


async def test_second_leader_starts_when_the_first_one_does_not(
    world, leader, await_events, emit_event
):
    second = await world.new_leader("second")
    await await_events(leaders=[leader.id, second.id])
    async with world.running(second):
        told_after_ms = await world.client.now_ms()
        await emit_event(1)
        world.localnet.advance_clock(10_000)
        (begun,) = await wait_for_events(world, executions.ExecutionStarted, 1)
    (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.keeper == second.key.address
    assert begun.deadline_ms - HOUR_MS >= told_after_ms + 10_000


@pytest.fixture
async def schedule_with_future_cursor(world, leader, await_events, schedules):
    """Return a schedule whose cursor another leader has set ahead of the chain."""
    liar = await world.new_leader("liar")
    schedule = await await_events(leaders=[liar.id, leader.id])
    async with world.client_of(liar.key) as client:
        keeper = Schedules(client, world.deployment)
        await keeper.trigger_by_event(schedule, liar.id, Cursor(2**64 - 1, 0, 0))
    await schedules.call(executions.cancel, (await schedules.uncollected(schedule))[0].id)
    return schedule


async def test_events_count_again_after_a_cursor_reset(
    world, leader, schedule_with_future_cursor, emit_event, schedules
):
    async with world.running(leader):
        world.localnet.advance_clock(2 * PAUSE_MS)
        await emit_event(1)  # it does not count
        await schedules.reset_cursor(schedule_with_future_cursor, [leader.id])
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(2)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    first, second = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert second.keeper == leader.key.address
    assert second.cursor.checkpoint < first.cursor.checkpoint


async def test_cursor_reset_during_a_read_stays_in_effect(
    world, leader, schedule_with_future_cursor, emit_event, schedules, monkeypatch
):
    is_read, observed = asyncio.Event(), asyncio.Event()
    read, observe = TriggerExecutor.read_schedule, ScheduleRunner.observe

    async def read_schedule(self, schedule):
        results = await read(self, schedule)
        is_read.set()
        await observed.wait()
        return results

    def see(self, page):
        observe(self, page)
        if any(isinstance(event, moves.ScheduleCursorReset) for event, _ in page.schedules):
            observed.set()

    monkeypatch.setattr(TriggerExecutor, "read_schedule", read_schedule)
    monkeypatch.setattr(ScheduleRunner, "observe", see)
    async with world.running(leader):
        async with asyncio.timeout(60):
            await is_read.wait()
        world.localnet.advance_clock(2 * PAUSE_MS)
        await schedules.reset_cursor(schedule_with_future_cursor, [leader.id])
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 2)


async def test_finished_list_continues_after_an_extension(world, leader, create, schedules):
    now_ms = await world.client.now_ms()
    async with world.running(leader):
        schedule = await create(Timing(Plan.At((now_ms + HOUR_MS,)), None))
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        await schedules.extend(schedule, times=[now_ms + 2 * HOUR_MS])
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 2)
    assert tool_inputs == [21, 21]


async def test_owner_has_few_slots(world, leader, await_events, emit_event, schedules, monkeypatch):
    monkeypatch.setattr(event_triggers, "MAX_FOLLOWED_PER_OWNER", 1)
    async with world.running(leader):
        first = await await_events()
        await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == first


async def test_triggered_schedule_takes_the_slot_of_one_that_never_triggered(
    world, leader, await_events, emit_event, schedules, single_slot, looks
):
    async with world.running(leader):
        paid = await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        await schedules.pause(paid)
        idle = await await_events(event="NeverTold")
        await looks.at(idle, 1)
        await schedules.refill(idle, 1)
        await looks.at(idle, 2)  # it has had the slot since the first one
        await schedules.resume(paid)
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(2)
        triggered = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert [event.schedule for event in triggered] == [paid, paid]


async def test_owner_without_a_slot_takes_one_of_an_owner_with_many(
    world, leader, await_events, emit_event, schedules, looks, monkeypatch
):
    monkeypatch.setattr(event_triggers, "MAX_FOLLOWED_SCHEDULES", 2)
    key = new_key()
    world.localnet.fund(key.address, 10**11)
    async with world.client_of(key) as client, world.running(leader):
        for _ in range(2):
            idle = await await_events(event="NeverTold")
            await looks.at(idle, 1)
            await schedules.refill(idle, 1)
            await looks.at(idle, 2)  # it has had a slot since the first one
        other = await await_events(owned=Schedules(client, world.deployment))
        await emit_event(1)
        (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == other


async def test_paused_schedule_has_no_slot(
    world, leader, await_events, emit_event, schedules, single_slot, looks
):
    async with world.running(leader):
        first = await await_events(event="NeverTold")
        await looks.at(first, 1)
        await schedules.refill(first, 1)
        await looks.at(first, 2)  # it has had the slot since the first one
        second = await await_events()
        await schedules.pause(first)
        await emit_event(1)
        (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == second


async def test_schedule_without_a_slot_gets_missed_events_later(
    world, leader, await_events, emit_event, schedules, single_slot
):
    async with world.running(leader):
        first, second = await await_events(), await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        await schedules.cancel(first)
        triggered = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert [event.schedule for event in triggered] == [first, second]
    assert len({event.cursor for event in triggered}) == 1


async def test_schedule_without_funds_has_no_slot_until_a_refill(
    world, leader, await_events, emit_event, schedules, single_slot, unchecked, simulated
):
    async with world.running(leader):
        first = await await_events(funds_mist=0, funds_per_execution_mist=0)
        second = await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
        await schedules.refill(first, 10**9)
        await schedules.cancel(second)
        triggered = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert [event.schedule for event in triggered] == [second, first]
    assert len(simulated) == 2


async def test_event_waits_for_a_refill(world, leader, await_events, emit_event, schedules, create):
    async with world.running(leader):
        short = {"funds_mist": await needed_mist(create), "allow_overlap": True}
        schedule = await await_events(**short)
        await emit_event(1)
        await wait_for_events(world, moves.ScheduleTriggered, 1)
        world.localnet.advance_clock(PAUSE_MS)
        await emit_event(2)
        await schedules.refill(schedule, 10**9)
        first, second = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert first.cursor.checkpoint < second.cursor.checkpoint


@pytest.mark.parametrize(
    "error",
    [
        WrongStateError("not_enough_sui", "the worker has too little for now"),
        UnreachableError("node_unreachable", "no answer"),
        KeyError("unforeseen"),
    ],
    ids=["refused", "away", "unforeseen"],
)
async def test_error_loses_no_event(world, leader, await_events, emit_event, fails_once, error):
    fails_once(error)
    async with world.running(leader):
        await await_events()
        await emit_event(1)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    assert tool_inputs == [21]


# --- Untrusted input


@dataclass
class Looks:
    """The number of times that leaders read each schedule."""

    counts: Counter = field(default_factory=Counter)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def at(self, schedule, count):
        """Return as soon as a schedule was read `count` times."""
        async with asyncio.timeout(60):
            while self.counts[schedule] < count:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
def looks(monkeypatch):
    looks, read = Looks(), TriggerExecutor.read_schedule

    async def read_schedule(self, schedule):
        looks.counts[schedule] += 1
        looks.changed.set()
        return await read(self, schedule)

    monkeypatch.setattr(TriggerExecutor, "read_schedule", read_schedule)
    return looks


@pytest.fixture
def simulated(monkeypatch):
    """Return the list of trigger drafts that leaders simulate."""
    drafts, simulate = [], triggers.simulate_transaction

    async def simulate_transaction(connection, draft):
        drafts.append(draft)
        return await simulate(connection, draft)

    monkeypatch.setattr(triggers, "simulate_transaction", simulate_transaction)
    return drafts


@pytest.fixture
def unchecked(monkeypatch):
    """Create schedules without the check for sufficient funds."""

    async def check_funds(*_, **__):
        pass

    monkeypatch.setattr(verbs, "check_funds", check_funds)


@pytest.fixture
def single_slot(monkeypatch):
    """Limit the number of followed schedules to one."""
    monkeypatch.setattr(event_triggers, "MAX_FOLLOWED_SCHEDULES", 1)


@pytest.fixture
def fails_once(monkeypatch):
    """Make the first trigger of each schedule fail, or every trigger of some."""

    def fail(error, always=()):
        failed, real = set(), TriggerExecutor.trigger

        async def trigger(self, standing, *event):
            schedule = standing.schedule.id
            if schedule in always or (not always and schedule not in failed):
                failed.add(schedule)
                raise error
            return await real(self, standing, *event)

        monkeypatch.setattr(TriggerExecutor, "trigger", trigger)

    return fail


@pytest.mark.parametrize("is_read", [False, True], ids=["before", "after"])
async def test_schedule_cancelled_during_a_read_does_not_stop_the_leader(
    world, leader, await_events, create, schedules, monkeypatch, is_read
):
    """Cancel it before or after its order is read; in the second case its leader knows it."""
    observed, observe, read = asyncio.Event(), ScheduleRunner.observe, verbs.read_order

    def see(self, page):
        observe(self, page)
        if any(isinstance(event, moves.ScheduleCancelled) for event, _ in page.schedules):
            observed.set()

    async def read_order(package, schedule):
        order = await read(package, schedule) if is_read else None
        if not observed.is_set():
            await schedules.cancel(schedule)
            await observed.wait()
        return order or await read(package, schedule)

    monkeypatch.setattr(ScheduleRunner, "observe", see)
    monkeypatch.setattr(verbs, "read_order", read_order)
    async with world.running(leader):
        await await_events()
        async with asyncio.timeout(60):
            await observed.wait()
        await create()
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)


async def test_unexpected_error_postpones_one_schedule(world, leader, create, fails_once, logged):
    fails_once(KeyError("unforeseen"))
    async with world.running(leader):
        await create()
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    (postponed,) = [line for line in logged if line["event"] == "schedule_postponed"]
    assert postponed["error"].startswith("KeyError")


async def test_failing_schedule_does_not_block_others(world, leader, create, fails_once):
    async with world.running(leader):
        failing, honest = await create(), await create()
        fails_once(UnreachableError("node_unreachable", "INTERNAL"), always=[failing])
        world.localnet.advance_clock(HOUR_MS)
        (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == honest


async def test_schedules_of_one_owner_do_not_block_others(world, leader, create, monkeypatch):
    hung, begun, read = [], asyncio.Event(), TriggerExecutor.read_schedule
    other = await world.new_leader("other")
    async with world.client_of(other.key) as client:
        many = [await create() for _ in range(5)]
        honest = await create(owned=Schedules(client, world.deployment))

        async def read_schedule(self, schedule):
            if schedule in many:
                hung.append(schedule)
                await begun.wait()
            return await read(self, schedule)

        monkeypatch.setattr(TriggerExecutor, "read_schedule", read_schedule)
        world.localnet.advance_clock(HOUR_MS)
        async with world.running(leader):
            (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
            assert (triggered.schedule, len(hung)) == (honest, 4)
            begun.set()


async def test_schedule_without_funds_is_not_simulated(
    world, leader, create, schedules, unchecked, simulated, looks
):
    async with world.running(leader):
        schedule = await create(funds_mist=0, funds_per_execution_mist=0)
        for count in range(2, 6):  # each check ends before the next one starts
            world.localnet.advance_clock(HOUR_MS)
            await looks.at(schedule, count)
        assert not simulated
        await schedules.refill(schedule, 10**9)
        await wait_for_events(world, executions.ExecutionStarted, 1)
    assert len(simulated) == 1
