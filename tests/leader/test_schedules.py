"""Schedules that a Leader triggers on the localnet, and whose executions it carries."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import NotNowError, UnreachableError
from nexus_tools.leader.schedules import event_triggers, triggers
from nexus_tools.leader.schedules.schedule_runner import Schedules as LeaderSchedules
from nexus_tools.leader.schedules.triggers import Triggers
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


asked = []


@tool("xyz.example.flow.double@1")
async def double(a: int) -> Number:
    """Doubles an integer."""
    asked.append(a)
    return Number(result=2 * a)


@pytest.fixture
async def leader(world, serve_tools):
    """A leader, and the tool of the workflow."""
    asked.clear()
    url = await serve_tools(double)
    await world.register_tool(double.definition(f"{url}/{double.fqn}"))
    return await world.new_leader()


@pytest.fixture
def schedules(world):
    return Schedules(world.client, world.deployment)


@pytest.fixture
def create(world, leader, schedules):
    """Creates a schedule of one vertex, for every hour from in an hour on; gives its id."""

    async def create(timing=None, *, owned=schedules, **options):
        vertex = Vertex("one", str(double.fqn), entry_ports=("a",))
        workflow = await world.publish(Document((vertex,), (), dialect=DIALECT))
        first_at_ms = await world.client.now_ms() + HOUR_MS
        timing = timing or Timing(Plan.Every(HOUR_MS, first_at_ms, None), None)
        terms = {"funds_mist": 10**9, "leaders": [leader.id], "lasts_ms": HOUR_MS}
        return (await owned.create(workflow, {"a": 21}, timing, **terms | options)).schedule

    return create


async def told(world, kind, count):
    """The first so many events of a kind, once they are there."""
    found = []
    async with asyncio.timeout(60):
        kinds = event_filter(world.deployment, kind)
        async for item in follow_events(world.client, kinds, Cursor.beginning()):
            if isinstance(item, EventRecord):
                found.append(parse_event(world.deployment, item.event))
            if len(found) == count:
                return found
    raise AssertionError("events end")


async def test_what_is_due_is_triggered_carried_and_collected(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create()
        world.localnet.advance_clock(HOUR_MS)
        (ended,) = await told(world, executions.ExecutionEnded, 1)
        assert (ended.status, asked) == ("completed", [42 // 2])
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 2)
    assert asked == [21, 21]
    first, second = await told(world, moves.ScheduleTriggered, 2)
    assert (first.missed, second.missed) == (0, 0)
    (collected,) = await told(world, moves.ScheduleCollected, 1)
    assert (collected.execution, collected.status) == (first.execution, "completed")
    assert (await schedules.get(schedule)).begun == 2


async def test_what_came_due_while_it_was_away_is_made_up_for_once(world, leader, create):
    await create()
    world.localnet.advance_clock(5 * HOUR_MS)
    async with world.running(leader):
        await told(world, executions.ExecutionEnded, 1)
    (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.missed == 4
    assert asked == [21]


async def needed_mist(create):
    """What a schedule has to have for its first execution, as the refusal of less says."""
    with pytest.raises(NotNowError) as caught:
        await create(funds_mist=1)
    return caught.value.details["needed_mist"]


async def test_a_refill_lets_a_short_schedule_begin(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create(funds_mist=await needed_mist(create))
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
        world.localnet.advance_clock(HOUR_MS)
        assert (await schedules.standing(schedule)).lacks_mist
        await schedules.refill(schedule, 10**9)
        await told(world, executions.ExecutionEnded, 2)
    assert asked == [21, 21]


async def test_what_is_resumed_goes_on(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create()
        await schedules.pause(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await schedules.resume(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
    assert asked == [21]


async def test_what_another_leader_began_is_collected(world, leader, create, schedules):
    other = await world.new_leader("other")
    async with world.running(other):
        schedule = await create(leaders=[other.id])
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
    async with world.running(leader):
        await schedules.name_leaders(schedule, [leader.id])
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 2)
    first, second = await told(world, moves.ScheduleTriggered, 2)
    assert (first.keeper, second.keeper) == (other.key.address, leader.key.address)
    assert (await told(world, moves.ScheduleCollected, 1))[0].execution == first.execution


# --- By event


@pytest.fixture
def await_events(world, create):
    """Creates a schedule that waits for registrations of tools, or other events; gives its id."""

    async def await_events(pause_ms=PAUSE_MS, event="ToolRegistered", **options):
        awaited = f"{world.deployment.original_id}::tool::{event}"
        return await create(timing=Timing(Plan.OnEvent(awaited, pause_ms, 100), None), **options)

    return await_events


@pytest.fixture
def tell(world):
    """Registers a tool, of which an event tells."""

    async def tell(number):
        definition = double.definition(f"http://127.0.0.1:9/{number}")
        await world.register_tool(
            replace(definition, fqn=ToolFqn.parse(f"xyz.example.flow.told{number}@1"))
        )

    return tell


async def test_an_event_begins_an_execution(world, leader, await_events, tell):
    async with world.running(leader):
        schedule = await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
    (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert (triggered.schedule, asked) == (schedule, [21])


async def test_what_an_execution_left_pays_for_the_next_event(
    world, leader, await_events, tell, schedules, create
):
    each_mist = await needed_mist(create)
    async with world.running(leader):
        schedule = await await_events(each_mist=each_mist, funds_mist=2 * each_mist)
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        assert (await schedules.get(schedule)).funds_mist < each_mist
        world.localnet.advance_clock(PAUSE_MS)
        await tell(2)
        await told(world, executions.ExecutionEnded, 2)
    assert asked == [21, 21]


async def test_an_event_while_it_was_away_begins_one_once(world, leader, await_events, tell):
    schedule = await await_events(overlaps=True)
    await tell(1)
    for number in (1, 2):
        async with world.running(leader):
            await told(world, executions.ExecutionEnded, number)
        world.localnet.advance_clock(PAUSE_MS)
        await tell(number + 1)
    triggered = await told(world, moves.ScheduleTriggered, 2)
    places = [(each.cursor.checkpoint, each.cursor.transaction) for each in triggered]
    assert places[0] < places[1]
    assert {each.schedule for each in triggered} == {schedule}


async def test_events_before_it_was_created_do_not_count(world, leader, await_events, tell):
    await tell(1)
    await await_events()
    async with world.running(leader):
        await tell(2)
        await told(world, executions.ExecutionEnded, 1)
    (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.cursor.checkpoint > 0
    assert asked == [21]


async def test_events_in_a_pause_are_passed_over(world, leader, await_events, tell):
    async with world.running(leader):
        await await_events(pause_ms=HOUR_MS)
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        await tell(2)
        world.localnet.advance_clock(HOUR_MS)
        await tell(3)
        await told(world, executions.ExecutionEnded, 2)
    assert len(asked) == 2


async def test_events_while_one_runs_are_passed_over(world, leader, await_events, tell):
    await await_events()
    for number in range(3):
        await tell(number)
    async with world.running(leader):
        await told(world, executions.ExecutionEnded, 1)
        world.localnet.advance_clock(PAUSE_MS)
        await tell(3)
        await told(world, executions.ExecutionEnded, 2)
    first, second = await told(world, moves.ScheduleTriggered, 2)
    assert second.cursor.checkpoint >= first.cursor.checkpoint + 3


async def test_the_second_leader_begins_what_the_first_does_not(world, leader, await_events, tell):
    second = await world.new_leader("second")
    await await_events(leaders=[leader.id, second.id])
    async with world.running(second):
        told_after_ms = await world.client.now_ms()
        await tell(1)
        world.localnet.advance_clock(10_000)
        (begun,) = await told(world, executions.ExecutionBegun, 1)
    (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.keeper == second.key.address
    assert begun.deadline_ms - HOUR_MS >= told_after_ms + 10_000


@pytest.fixture
async def misled(world, leader, await_events, schedules):
    """A schedule whose cursor another leader has set ahead of the chain."""
    liar = await world.new_leader("liar")
    schedule = await await_events(leaders=[liar.id, leader.id])
    async with world.client_of(liar.key) as client:
        keeper = Schedules(client, world.deployment)
        await keeper.trigger_by_event(schedule, liar.id, Cursor(2**64 - 1, 0, 0))
    await schedules.call(executions.cancel, (await schedules.uncollected(schedule))[0].id)
    return schedule


async def test_events_count_again_after_the_cursor_is_reset(world, leader, misled, tell, schedules):
    async with world.running(leader):
        world.localnet.advance_clock(2 * PAUSE_MS)
        await tell(1)  # it does not count
        await schedules.reset_cursor(misled, [leader.id])
        world.localnet.advance_clock(PAUSE_MS)
        await tell(2)
        await told(world, executions.ExecutionEnded, 2)
    first, second = await told(world, moves.ScheduleTriggered, 2)
    assert second.keeper == leader.key.address
    assert second.cursor.checkpoint < first.cursor.checkpoint


async def test_cursor_that_is_reset_while_the_schedule_is_read_stays_reset(
    world, leader, misled, tell, schedules, monkeypatch
):
    is_read, observed = asyncio.Event(), asyncio.Event()
    read, observe = Triggers.state, LeaderSchedules.observe

    async def state(self, schedule):
        found = await read(self, schedule)
        is_read.set()
        await observed.wait()
        return found

    def see(self, page):
        observe(self, page)
        if any(isinstance(event, moves.ScheduleCursorReset) for event, _ in page.schedules):
            observed.set()

    monkeypatch.setattr(Triggers, "state", state)
    monkeypatch.setattr(LeaderSchedules, "observe", see)
    async with world.running(leader):
        async with asyncio.timeout(60):
            await is_read.wait()
        world.localnet.advance_clock(2 * PAUSE_MS)
        await schedules.reset_cursor(misled, [leader.id])
        world.localnet.advance_clock(PAUSE_MS)
        await tell(1)
        await told(world, executions.ExecutionEnded, 2)


async def test_finished_list_goes_on_once_it_is_extended(world, leader, create, schedules):
    now_ms = await world.client.now_ms()
    async with world.running(leader):
        schedule = await create(Timing(Plan.At((now_ms + HOUR_MS,)), None))
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
        await schedules.extend(schedule, times=[now_ms + 2 * HOUR_MS])
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 2)
    assert asked == [21, 21]


async def test_one_owner_has_few_places(world, leader, await_events, tell, schedules, monkeypatch):
    monkeypatch.setattr(event_triggers, "MAX_OF_OWNER", 1)
    async with world.running(leader):
        first = await await_events()
        await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == first


async def test_schedule_that_triggered_gets_the_place_of_one_that_never_did(
    world, leader, await_events, tell, schedules, one_place, looks
):
    async with world.running(leader):
        paid = await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        await schedules.pause(paid)
        idle = await await_events(event="NeverTold")
        await looks.at(idle, 1)
        await schedules.refill(idle, 1)
        await looks.at(idle, 2)  # it has the place since the first one
        await schedules.resume(paid)
        world.localnet.advance_clock(PAUSE_MS)
        await tell(2)
        triggered = await told(world, moves.ScheduleTriggered, 2)
    assert [each.schedule for each in triggered] == [paid, paid]


async def test_owner_without_a_place_gets_one_of_an_owner_with_many(
    world, leader, await_events, tell, schedules, looks, monkeypatch
):
    monkeypatch.setattr(event_triggers, "MAX_FOLLOWED", 2)
    key = new_key()
    world.localnet.fund(key.address, 10**11)
    async with world.client_of(key) as client, world.running(leader):
        for _ in range(2):
            idle = await await_events(event="NeverTold")
            await looks.at(idle, 1)
            await schedules.refill(idle, 1)
            await looks.at(idle, 2)  # it has a place since the first one
        other = await await_events(owned=Schedules(client, world.deployment))
        await tell(1)
        (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == other


async def test_what_is_paused_has_no_place(
    world, leader, await_events, tell, schedules, one_place, looks
):
    async with world.running(leader):
        first = await await_events(event="NeverTold")
        await looks.at(first, 1)
        await schedules.refill(first, 1)
        await looks.at(first, 2)  # it has the place since the first one
        second = await await_events()
        await schedules.pause(first)
        await tell(1)
        (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == second


async def test_whoever_had_no_place_is_told_what_it_missed(
    world, leader, await_events, tell, schedules, one_place
):
    async with world.running(leader):
        first, second = await await_events(), await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        await schedules.cancel(first)
        triggered = await told(world, moves.ScheduleTriggered, 2)
    assert [each.schedule for each in triggered] == [first, second]
    assert len({each.cursor for each in triggered}) == 1


async def test_what_is_short_has_no_place_until_it_is_refilled(
    world, leader, await_events, tell, schedules, one_place, unchecked, simulated
):
    async with world.running(leader):
        first = await await_events(funds_mist=0, each_mist=0)
        second = await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
        await schedules.refill(first, 10**9)
        await schedules.cancel(second)
        triggered = await told(world, moves.ScheduleTriggered, 2)
    assert [each.schedule for each in triggered] == [second, first]
    assert len(simulated) == 2


async def test_an_event_waits_for_a_refill(world, leader, await_events, tell, schedules, create):
    async with world.running(leader):
        short = {"funds_mist": await needed_mist(create), "overlaps": True}
        schedule = await await_events(**short)
        await tell(1)
        await told(world, moves.ScheduleTriggered, 1)
        world.localnet.advance_clock(PAUSE_MS)
        await tell(2)
        await schedules.refill(schedule, 10**9)
        first, second = await told(world, moves.ScheduleTriggered, 2)
    assert first.cursor.checkpoint < second.cursor.checkpoint


@pytest.mark.parametrize(
    "error",
    [
        NotNowError("not_enough_sui", "the worker has too little for now"),
        UnreachableError("node_unreachable", "no answer"),
        KeyError("unforeseen"),
    ],
    ids=["refused", "away", "unforeseen"],
)
async def test_trouble_loses_no_event(world, leader, await_events, tell, fails_once, error):
    fails_once(error)
    async with world.running(leader):
        await await_events()
        await tell(1)
        await told(world, executions.ExecutionEnded, 1)
    assert asked == [21]


# --- Strangers


@dataclass
class Looks:
    """How often leaders read which schedules."""

    counts: Counter = field(default_factory=Counter)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def at(self, schedule, count):
        """Return once a schedule was read so often."""
        async with asyncio.timeout(60):
            while self.counts[schedule] < count:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
def looks(monkeypatch):
    looks, read = Looks(), Triggers.state

    async def state(self, schedule):
        looks.counts[schedule] += 1
        looks.changed.set()
        return await read(self, schedule)

    monkeypatch.setattr(Triggers, "state", state)
    return looks


@pytest.fixture
def simulated(monkeypatch):
    """The drafts of triggers that leaders simulate."""
    drafts, simulate = [], triggers.simulate_transaction

    async def simulate_transaction(connection, draft):
        drafts.append(draft)
        return await simulate(connection, draft)

    monkeypatch.setattr(triggers, "simulate_transaction", simulate_transaction)
    return drafts


@pytest.fixture
def unchecked(monkeypatch):
    """Schedules are created without the funds that ours would ask for."""

    async def check_funds(*_, **__):
        pass

    monkeypatch.setattr(verbs, "check_funds", check_funds)


@pytest.fixture
def one_place(monkeypatch):
    """Events are followed for one schedule only."""
    monkeypatch.setattr(event_triggers, "MAX_FOLLOWED", 1)


@pytest.fixture
def fails_once(monkeypatch):
    """Lets the first trigger of each schedule fail, or each one of some."""

    def fail(error, always=()):
        failed, real = set(), Triggers.begin

        async def begin(self, standing, *event):
            schedule = standing.schedule.id
            if schedule in always or (not always and schedule not in failed):
                failed.add(schedule)
                raise error
            return await real(self, standing, *event)

        monkeypatch.setattr(Triggers, "begin", begin)

    return fail


@pytest.mark.parametrize("is_read", [False, True], ids=["before", "after"])
async def test_what_is_cancelled_while_it_is_read_ends_no_leader(
    world, leader, await_events, create, schedules, monkeypatch, is_read
):
    """Before or after its order is read, and its leader knows it then."""
    observed, observe, read = asyncio.Event(), LeaderSchedules.observe, verbs.read_order

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

    monkeypatch.setattr(LeaderSchedules, "observe", see)
    monkeypatch.setattr(verbs, "read_order", read_order)
    async with world.running(leader):
        await await_events()
        async with asyncio.timeout(60):
            await observed.wait()
        await create()
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)


async def test_what_nobody_foresaw_postpones_one_schedule(
    world, leader, create, fails_once, logged
):
    fails_once(KeyError("unforeseen"))
    async with world.running(leader):
        await create()
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
    (postponed,) = [each for each in logged if each["event"] == "schedule_postponed"]
    assert postponed["error"].startswith("KeyError")


async def test_one_that_always_fails_keeps_no_other_waiting(world, leader, create, fails_once):
    async with world.running(leader):
        failing, honest = await create(), await create()
        fails_once(UnreachableError("node_unreachable", "INTERNAL"), always=[failing])
        world.localnet.advance_clock(HOUR_MS)
        (triggered,) = await told(world, moves.ScheduleTriggered, 1)
    assert triggered.schedule == honest


async def test_the_schedules_of_one_owner_keep_no_other_waiting(world, leader, create, monkeypatch):
    hung, begun, read = [], asyncio.Event(), Triggers.state
    other = await world.new_leader("other")
    async with world.client_of(other.key) as client:
        many = [await create() for _ in range(5)]
        honest = await create(owned=Schedules(client, world.deployment))

        async def state(self, schedule):
            if schedule in many:
                hung.append(schedule)
                await begun.wait()
            return await read(self, schedule)

        monkeypatch.setattr(Triggers, "state", state)
        world.localnet.advance_clock(HOUR_MS)
        async with world.running(leader):
            (triggered,) = await told(world, moves.ScheduleTriggered, 1)
            assert (triggered.schedule, len(hung)) == (honest, 4)
            begun.set()


async def test_what_is_short_is_not_simulated(
    world, leader, create, schedules, unchecked, simulated, looks
):
    async with world.running(leader):
        schedule = await create(funds_mist=0, each_mist=0)
        for count in range(2, 6):  # each look is over when the next one begins
            world.localnet.advance_clock(HOUR_MS)
            await looks.at(schedule, count)
        assert not simulated
        await schedules.refill(schedule, 10**9)
        await told(world, executions.ExecutionBegun, 1)
    assert len(simulated) == 1
