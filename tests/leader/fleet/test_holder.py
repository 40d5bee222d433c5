"""Executions, schedules and rollbacks of the chain when the holder of a fleet changes."""

import asyncio

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import Schedules
from nexus_tools.sui.client import Cursor, EventRecord, follow_events
from nexus_tools.sui.types.address import Address
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import DIALECT, Document, Edge, EdgeKind, InputPort, OutputPort, Vertex

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
HOUR_MS = 3_600_000


class Number(Variant, name="ok"):
    result: int


class Steps:
    """The inputs of a tool in the order of its runs, and a gate that lets the runs end."""

    def __init__(self):
        self.inputs = []
        self.gate = asyncio.Event()
        self.called = asyncio.Event()


@pytest.fixture
async def steps(world, serve_tools):
    steps = Steps()

    @tool("xyz.example.flow.add@1")
    async def add(a: int) -> Number:
        """Adds 1 to an integer."""
        steps.inputs.append(a)
        steps.called.set()
        await steps.gate.wait()
        return Number(result=a + 1)

    await world.register_tool(add.definition(await serve_tools(add)))
    yield steps
    steps.gate.set()


def vertex(name, **fields):
    return Vertex(name, "xyz.example.flow.add@1", **fields)


CHAIN = Document(
    (vertex("one", entry_ports=("a",)), vertex("two")),
    (Edge(OutputPort("one", "ok", "result"), InputPort("two", "a"), EdgeKind.NORMAL),),
    dialect=DIALECT,
)
SINGLE = Document((vertex("one", entry_ports=("a",)),), (), dialect=DIALECT)


async def test_new_holder_continues_executions_and_schedules(world, processes, steps, log):
    schedules = Schedules(world.client, world.deployment)
    timing = Timing(Plan.Every(HOUR_MS, await world.client.now_ms() + HOUR_MS, None), None)
    terms = {"funds_mist": 10**9, "leaders": [processes.identity.id], "duration_ms": HOUR_MS}
    one = await processes.start()
    await processes.wait_for_holder(log)
    workflow = await world.publish(CHAIN)
    await schedules.create(await world.publish(SINGLE), {"a": 7}, timing, **terms)
    execution = await world.begin(workflow, {"one": {"a": 1}})
    await steps.called.wait()
    two = await processes.start()
    processes.declare_dead(await one.kill())
    steps.gate.set()
    assert (await world.ended(execution)).status == "completed"
    assert await processes.wait_for_holder(log) is two
    world.localnet.advance_clock(HOUR_MS)
    assert [ended.status for ended in await endings(world, 2)] == ["completed"] * 2
    # The tool's server joins the repeated call of the first vertex with the first call.
    assert steps.inputs == [1, 2, 7]


async def endings(world, count):
    """Wait until `count` executions have ended, and return their events."""
    kinds, results = event_filter(world.deployment, ExecutionEnded), []
    async with asyncio.timeout(TIMEOUT_S):
        async for item in follow_events(world.client, kinds, Cursor.beginning()):
            if isinstance(item, EventRecord):
                results.append(parse_event(world.deployment, item.event))
            if len(results) == count:
                return results
    raise AssertionError("events end")


async def test_only_the_holder_dispatches_attempts(world, processes, steps, log):
    steps.gate.set()
    one = await processes.start()
    await processes.wait_for_holder(log)
    two = await processes.start()
    workflow = await world.publish(CHAIN)
    executions = [await world.begin(workflow, {"one": {"a": 10 * n}}) for n in range(5)]
    for execution in executions:
        assert (await world.ended(execution)).status == "completed"
    assert two.metric("closing_size_count") == 0
    assert two.metric("executions") == 0
    assert one.metric("closing_size_count") > 0


async def test_new_holder_starts_when_the_former_one_does_not_renew(
    world, processes, registered, calls, log
):
    one, two = await processes.start(), await processes.start()
    holder = await processes.wait_for_holder(log)
    other = two if holder is one else one
    processes.make_holder(other.worker)
    await log.wait_for("holding_ended")
    assert await processes.wait_for_holder(log) is other
    [invocation] = await world.request(registered, {"a": 1, "b": 1})
    await world.closed(invocation)
    assert calls.counts == {1: 1}
    assert [process.metric("fleet_holder") for process in (holder, other)] == [0, 1]


async def test_process_forgets_former_credits_when_it_becomes_the_holder_again(
    world, processes, steps, log
):
    """The other holder may have spent them."""
    steps.gate.set()
    one = await processes.start()
    await processes.wait_for_holder(log)
    two = await processes.start()
    execution = await world.begin(await world.publish(SINGLE), {"one": {"a": 1}})
    assert (await world.ended(execution)).status == "completed"
    accounts = one.leader._parts.intake._holder._accounts
    fresh_mist = accounts.room_mist(Address.of(1))
    assert accounts.room_mist(execution) > fresh_mist
    for holder in (two, one):
        processes.make_holder(holder.worker)
        await log.wait_for("holding_ended", len(log.named("holding_ended")) + 1)
        assert await processes.wait_for_holder(log) is holder
    async with asyncio.timeout(TIMEOUT_S):
        await one.leader._parts.intake._holder.started.wait()
    assert accounts.room_mist(execution) == fresh_mist


async def test_rollback_while_processes_own_invocations(world, processes, registered, calls, log):
    for _ in range(2):
        await processes.start(max_concurrent_per_tool=1)
    [before] = await world.request(registered, {"a": 0, "b": 1})
    await world.closed(before)
    snapshot = world.localnet.snapshot()
    calls.gate.clear()
    await world.request(registered, *[{"a": 100 + n, "b": 1} for n in range(4)])
    await calls.wait_for(3)
    world.localnet.revert(snapshot)
    calls.gate.set()
    async with world.again() as after:
        ids = []
        for number in range(1, 7):
            ids += await after.request(registered, {"a": number, "b": 1})
        closed = await after.closed(*ids)
        assert all(isinstance(invocation.state, State.Settled) for invocation in closed)
        assert await after.closings(len(ids) + 1) == dict.fromkeys([before, *ids], 1)
