"""What comes between an execution and its end, and how a Leader gets over it."""

import asyncio
import zlib
from dataclasses import replace

import pytest

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import dag as calls
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.registry import PublishedWorkflow, RequestRun, StepCommands
from nexus_tools.registry.workflows.plan_gas import PlanSizes
from nexus_tools.registry.workflows.publication import Progress, Publication
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Run,
    Vertex,
)
from tests.leader.test_leader_crash import CountingTool, process_of

pytestmark = pytest.mark.anyio

NO_SIZES = PlanSizes(0, (0,), ())
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def vertex(name, fqn="xyz.example.math.add@1", **fields):
    return Vertex(name, fqn, **fields)


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


def single(**fields):
    return Document((vertex("one", entry_ports=("a", "b"), **fields),), (), dialect=DIALECT)


CHAIN = Document(
    (
        vertex("one", entry_ports=("a", "b")),
        vertex("two", entry_ports=("b",)),
        vertex("three", entry_ports=("b",)),
    ),
    (edge("one.ok.result", "two.a"), edge("two.ok.result", "three.a")),
    dialect=DIALECT,
)
CHAIN_INPUTS = {"one": {"a": 1, "b": 1}, "two": {"b": 1}, "three": {"b": 1}}
ONE = {"one": {"a": 1, "b": 1}}


class Many(Variant, name="ok"):
    results: list[int]


@tool("xyz.example.math.count@1")
async def count(to: int) -> Many:
    """Counts from 0 to a number, which is left out."""
    return Many(results=list(range(to)))


@pytest.fixture
async def counting(world, serve_app, add_definition):
    app = CountingTool()
    # Its windows are long: a process that starts anew may be slow.
    await world.register_tool(add_definition(await serve_app(app), timeout_ms=120_000))
    yield app
    app.gate.set()


async def send(world, call, execution, *arguments):
    builder = TransactionBuilder()
    call(builder, world.deployment.workflows, execution, *arguments)
    return await world.invocations.send(builder)


async def advanced(world, execution):
    """The runs with which an ended execution went on, in order."""
    events = await world.events_of(execution)
    return [each.run.vertex for each in events if isinstance(each, moves.ExecutionAdvanced)]


# --- Money and consent


async def test_an_execution_that_is_short_of_funds_goes_on_when_it_is_refilled(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        execution = await world.begin(workflow, CHAIN_INPUTS, funds_mist=40_000_000)
        await world.events_of(execution, until=moves.ExecutionShort)
        transactions = running.metrics.registry.get_sample_value
        sent = transactions("nexus_leader_step_transactions_total")
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [10**9])[0]
        moves.refill(builder, world.deployment.workflows, execution, coin)
        await world.invocations.send(builder)
        ended = await world.ended(execution)
        assert (ended.status, ended.steps) == ("completed", 3)
        assert transactions("nexus_leader_step_transactions_total") <= sent + 3


async def test_leader_requests_executions_of_a_new_owner_at_once(world, counting, log):
    leader = await world.new_leader()
    workflow = await world.publish(single())
    counting.gate.clear()
    async with world.running(leader):
        begun = [await world.begin(workflow, ONE) for _ in range(6)]
        # Their fees are sure, though none is paid yet.
        await counting.wait_for(6)
        counting.gate.set()
        ended = [await world.ended(each) for each in begun]
    assert {each.status for each in ended} == {"completed"}
    assert log.named("unprofitable") == []


async def test_a_price_above_the_highest_one_ends_the_execution_with_the_reason(
    world, serve_tools, add_tool
):
    definition = add_tool.definition(await serve_tools(add_tool))
    leader = await world.new_leader()
    await world.register_tool(definition, price_mist=5_000, leaders=(leader.id,))
    workflow = await world.publish(CHAIN)
    async with world.running(leader):
        execution = await world.begin(workflow, CHAIN_INPUTS, max_price_mist=4_999)
        events = await world.events_of(execution)
    refused = [each for each in events if isinstance(each, moves.RunRefused)]
    assert [each.reason for each in refused] == ["price_too_high"]
    assert events[-1].status == "terminated"


async def test_a_tool_that_was_unregistered_meanwhile_ends_the_execution_with_the_reason(
    world, counting
):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    await world.tools.unregister("xyz.example.math.add@1")
    async with world.running(leader):
        events = await world.events_of(await world.begin(workflow, CHAIN_INPUTS))
    assert [each.reason for each in events if isinstance(each, moves.RunRefused)] == [
        "tool_not_active"
    ]


async def test_what_is_under_way_is_closed_when_its_execution_is_cancelled(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    counting.gate.clear()
    async with world.running(leader, check_meta=False):
        execution = await world.begin(workflow, CHAIN_INPUTS)
        await counting.wait_for(1)
        await send(world, moves.cancel, execution)
        counting.gate.set()
        ended = await world.ended(execution)
    assert (ended.status, ended.steps) == ("cancelled", 1)


# --- Time


async def test_a_retry_waits_for_its_time_and_an_execution_ends_with_its_own(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(single(attempts=2, retry_after_ms=HOUR_MS))
    inputs = {"one": {"a": "no number", "b": 1}}
    # Attempts after the first one may pay less than they cost.
    async with world.running(leader, max_unpaid_gas_units=10_000):
        # Their fees pay for ending another execution of their owner at its deadline.
        chain = await world.publish(CHAIN)
        for _ in range(4):
            await world.ended(await world.begin(chain, CHAIN_INPUTS))
        first = await world.begin(workflow, inputs)
        second = await world.begin(workflow, inputs, lasts_ms=30 * MINUTE_MS)
        for each in (first, second):
            await world.events_of(each, until=moves.ExecutionAdvanced)
        world.localnet.advance_clock(31 * MINUTE_MS)
        assert (await world.ended(second)).status == "timed_out"
        world.localnet.advance_clock(31 * MINUTE_MS)
        ended = await world.ended(first)
    assert (ended.status, ended.steps) == ("terminated", 2)


async def test_an_invocation_that_nobody_closed_expires_by_the_execution_that_goes_on(
    world, counting
):
    leader = await world.new_leader()
    workflow = await world.publish(single())
    counting.gate.clear()
    async with world.running(leader, check_meta=False, stop_timeout_ms=0):
        execution = await world.begin(workflow, ONE)
        await counting.wait_for(1)
    world.localnet.advance_clock(HOUR_MS)
    async with world.running(leader):
        events = await world.events_of(execution)
    change = next(each.change for each in events if isinstance(each, moves.ExecutionAdvanced))
    assert [each.reason for each in change.failures] == ["expired"]
    assert events[-1].status == "terminated"


async def test_the_second_leader_requests_and_closes_what_the_first_one_did_not(world, counting):
    absent, present = await world.new_leader("absent"), await world.new_leader("present")
    workflow = await world.publish(single())
    async with world.running(present):
        execution = await world.begin(workflow, ONE, leaders=[absent.id, present.id])
        own = await world.begin(workflow, ONE, leaders=[present.id])
        # It has learnt of both when its own has ended.
        assert (await world.ended(own)).status == "completed"
        world.localnet.advance_clock(MINUTE_MS)
        requested = await world.events_of(execution, until=InvocationRequested)
        assert requested[-1].leaders == (absent.id, present.id)
        window_ms = (requested[-1].expires_at_ms - requested[-1].requested_at_ms) // 2
        world.localnet.advance_clock(window_ms)
        ended = await world.ended(execution)
    assert (ended.status, ended.steps) == ("completed", 1)


# --- Ends of processes


@pytest.mark.parametrize("count", [0, 1, 2, 5])
async def test_a_leader_killed_on_the_way_carries_on_and_advances_each_run_once(
    world, counting, count
):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    options = {"CHECK_META": "false"}
    async with asyncio.timeout(90):
        async with process_of(world, leader, **options) as process:
            begun = [await world.begin(workflow, CHAIN_INPUTS) for _ in range(3)]
            if count:
                await counting.wait_for(count)
            process.kill()
            await process.wait()
        async with process_of(world, leader, **options):
            ended = [await world.ended(each) for each in begun]
    assert [each.status for each in ended] == ["completed"] * 3
    assert [await advanced(world, each) for each in begun] == [[0, 1, 2]] * 3
    assert max(counting.asked.values()) <= 2


async def test_a_leader_without_journal_finds_executions_whose_beginning_it_does_not_read(
    world, counting
):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    execution = await world.begin(workflow, CHAIN_INPUTS)
    world.localnet.advance_clock(HOUR_MS)
    async with world.running(leader, look_back_ms=0):
        assert (await world.ended(execution)).status == "completed"


async def test_a_leader_that_was_away_for_the_events_goes_on_from_the_records(world, counting):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    workflow = await world.publish(CHAIN)
    async with world.running(second):
        execution = await world.begin(workflow, CHAIN_INPUTS, leaders=[first.id])
        await send(world, moves.name_leader, execution, second.id)
        assert (await world.ended(execution)).status == "completed"


async def test_a_closing_goes_alone_where_its_leader_may_not_request_what_follows(world, counting):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    workflow = await world.publish(CHAIN)
    counting.gate.clear()
    async with (
        world.running(first, check_meta=False) as closing,
        world.running(second, check_meta=False),
    ):
        execution = await world.begin(workflow, CHAIN_INPUTS, leaders=[first.id])
        await counting.wait_for(1)
        await send(world, moves.name_leader, execution, second.id)
        counting.gate.set()
        events = await world.events_of(execution)
        sample = closing.metrics.registry.get_sample_value
        assert sample("nexus_leader_invocations_closed_total", {"how": "settled"}) == 1
    requested = [each.leaders for each in events if isinstance(each, InvocationRequested)]
    assert requested == [(first.id,), (second.id,), (second.id,)]
    assert events[-1].status == "completed"


# --- Strangers


async def published(world, document, chunks):
    """A workflow whose document is another one than that of its plan."""
    wanted = Publication.of(document, ToolFqn.parse("xyz.example.garbage@1"), "")
    forged = replace(wanted, chunks=tuple(chunks))
    builder = TransactionBuilder()
    dag = forged.draft(builder, world.deployment, has_name=False)
    for step in forged.steps(Progress()):
        step(builder, world.deployment, dag)
    calls.publish(builder, world.deployment.workflows, dag)
    sent = await world.invocations.send(builder)
    events = [each for each in world.parsed(sent) if isinstance(each, calls.DagPublished)]
    tools = tuple(dict.fromkeys(each.fqn for each in document.vertices))
    return PublishedWorkflow(
        events[0].dag, wanted.fqn, events[0].name, "", document, wanted.plan, tools, NO_SIZES
    )


@pytest.mark.parametrize(
    "chunk",
    [
        zlib.compress(CHAIN.canonical()),
        zlib.compress(b" " * 64 * 1024 * 1024),
        b"no document",
        zlib.compress(b"{" * 10_000),
    ],
    ids=["another", "bomb", "nothing", "deep"],
)
async def test_a_workflow_that_cannot_be_read_fails_its_own_runs_and_nobody_elses(
    world, counting, chunk
):
    leader = await world.new_leader()
    good = await world.publish(CHAIN)
    garbage = await published(world, single(), [chunk])
    commands = StepCommands(world.deployment, garbage.id, garbage.plan)
    async with world.running(leader):
        execution = await world.begin(garbage, ONE)
        builder = TransactionBuilder()
        commands.add(builder, execution, leader.id, RequestRun(Run("one")))
        await world.invocations.send(builder)
        others = [await world.begin(good, CHAIN_INPUTS) for _ in range(2)]
        assert [(await world.ended(each)).status for each in others] == ["completed"] * 2
        events = await world.events_of(execution)
    change = next(each.change for each in events if isinstance(each, moves.ExecutionAdvanced))
    assert [each.reason for each in change.failures] == ["input_invalid"]
    assert events[-1].status == "terminated"


async def test_a_long_list_starves_no_other_execution(world, serve_tools, counting):
    await world.register_tool(count.definition(await serve_tools(count)))
    many = Document(
        (
            vertex("start", "xyz.example.math.count@1", entry_ports=("to",)),
            vertex("each", entry_ports=("b",), parallel=64),
        ),
        (edge("start.ok.results", "each.a", EdgeKind.FOR_EACH),),
        dialect=DIALECT,
    )
    short = Document((vertex("start", "xyz.example.math.count@1", entry_ports=("to",)),), ())
    leader = await world.new_leader()
    good, long = await world.publish(short), await world.publish(many)
    counting.gate.clear()
    async with world.running(leader, check_meta=False):
        inputs = {"start": {"to": 100}, "each": {"b": 1}}
        slow = await world.begin(long, inputs, funds_mist=20 * 10**9)
        await counting.wait_for(64)
        quick = await world.begin(good, {"start": {"to": 1}})
        assert (await world.ended(quick)).status == "completed"
        counting.gate.set()
        ended = await world.ended(slow)
    assert (ended.status, ended.steps) == ("completed", 101)
