"""Schedules that a Leader triggers on the localnet, and whose executions it carries."""

import asyncio

import pytest

from nexus_tools.client import Cursor, EventRecord, follow_events
from nexus_tools.package import event_filter, parse_event
from nexus_tools.package.move.workflows import execution as executions
from nexus_tools.package.move.workflows import schedule as moves
from nexus_tools.package.move.workflows.timing import Plan, Timing
from nexus_tools.registry import Schedules
from nexus_tools.toolkit import Variant, tool
from nexus_tools.workflow import DIALECT, Document, Vertex

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000


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
    """Creates a schedule of one vertex that begins every hour from in an hour on; gives its id."""

    async def create(**options):
        vertex = Vertex("one", str(double.fqn), entry_ports=("a",))
        workflow = await world.publish(Document((vertex,), (), dialect=DIALECT))
        first_at_ms = await world.client.now_ms() + HOUR_MS
        timing = Timing(Plan.Every(HOUR_MS, first_at_ms, None), None)
        terms = {"funds_mist": 10**9, "leaders": [leader.id], "lasts_ms": HOUR_MS}
        return (await schedules.create(workflow, {"a": 21}, timing, **terms | options)).schedule

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


async def test_a_refill_lets_a_short_schedule_begin(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create(funds_mist=1_000_000)
        world.localnet.advance_clock(HOUR_MS)
        await schedules.refill(schedule, 10**9)
        await told(world, executions.ExecutionEnded, 1)
    assert asked == [21]


async def test_what_is_resumed_goes_on(world, leader, create, schedules):
    async with world.running(leader):
        schedule = await create()
        await schedules.pause(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await schedules.resume(schedule)
        world.localnet.advance_clock(HOUR_MS)
        await told(world, executions.ExecutionEnded, 1)
    assert asked == [21]
