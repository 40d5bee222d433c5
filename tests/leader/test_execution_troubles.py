"""Failures, interruptions and retries in executions that a Leader runs."""

import asyncio
import zlib
from dataclasses import replace

import pytest

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import dag as calls
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.leader.executions.execution_runner import ActiveExecution, ExecutionRunner
from nexus_tools.leader.executions.pending_steps import DeadlinePassed, FullRescan, RunReady
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
    # The windows are long, because a process may restart slowly.
    await world.register_tool(add_definition(await serve_app(app), timeout_ms=120_000))
    yield app
    app.gate.set()


async def send(world, call, execution, *arguments):
    builder = TransactionBuilder()
    call(builder, world.deployment.workflows, execution, *arguments)
    return await world.invocations.send(builder)


async def advanced_runs(world, execution):
    """Return the runs that advanced an ended execution, in order."""
    events = await world.events_of(execution)
    return [event.run.vertex for event in events if isinstance(event, moves.ExecutionAdvanced)]


# --- Funds and terms


async def refill(world, execution):
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [10**9])[0]
    moves.refill(builder, world.deployment.workflows, execution, coin)
    await world.invocations.send(builder)


async def test_execution_without_funds_continues_after_a_refill(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        execution = await world.begin(workflow, CHAIN_INPUTS, funds_mist=40_000_000)
        await world.events_of(execution, until=moves.ExecutionUnderfunded)
        transactions = running.metrics.registry.get_sample_value
        sent = transactions("nexus_leader_step_transactions_total")
        await refill(world, execution)
        ended = await world.ended(execution)
        assert (ended.status, ended.steps) == ("completed", 3)
        assert transactions("nexus_leader_step_transactions_total") <= sent + 3


async def test_leader_requests_executions_of_a_new_owner_immediately(world, counting, log):
    leader = await world.new_leader()
    workflow = await world.publish(single())
    counting.gate.clear()
    async with world.running(leader):
        begun = [await world.begin(workflow, ONE) for _ in range(6)]
        # Their fees are certain, although none is paid yet.
        await counting.wait_for(6)
        counting.gate.set()
        ended = [await world.ended(execution) for execution in begun]
    assert {execution.status for execution in ended} == {"completed"}
    assert log.named("unprofitable") == []


async def test_price_above_the_maximum_ends_the_execution_with_the_reason(
    world, serve_tools, add_tool
):
    definition = add_tool.definition(await serve_tools(add_tool))
    leader = await world.new_leader()
    await world.register_tool(definition, price_mist=5_000, leaders=(leader.id,))
    workflow = await world.publish(CHAIN)
    async with world.running(leader):
        execution = await world.begin(workflow, CHAIN_INPUTS, max_price_mist=4_999)
        events = await world.events_of(execution)
    refused = [event for event in events if isinstance(event, moves.RunRefused)]
    assert [event.reason for event in refused] == ["price_too_high"]
    assert events[-1].status == "terminated"


async def test_unregistered_tool_ends_the_execution_with_the_reason(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    await world.tools.unregister("xyz.example.math.add@1")
    async with world.running(leader):
        events = await world.events_of(await world.begin(workflow, CHAIN_INPUTS))
    assert [event.reason for event in events if isinstance(event, moves.RunRefused)] == [
        "tool_not_active"
    ]


async def test_cancelled_execution_closes_its_pending_invocations(world, counting):
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


async def test_retry_waits_for_its_time_and_execution_ends_at_its_deadline(world, counting):
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
        second = await world.begin(workflow, inputs, duration_ms=30 * MINUTE_MS)
        for execution in (first, second):
            await world.events_of(execution, until=moves.ExecutionAdvanced)
        world.localnet.advance_clock(31 * MINUTE_MS)
        assert (await world.ended(second)).status == "timed_out"
        world.localnet.advance_clock(31 * MINUTE_MS)
        ended = await world.ended(first)
    assert (ended.status, ended.steps) == ("terminated", 2)


async def test_unclosed_invocation_expires_when_its_execution_advances(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(single())
    counting.gate.clear()
    async with world.running(leader, check_meta=False, stop_timeout_ms=0):
        execution = await world.begin(workflow, ONE)
        await counting.wait_for(1)
    world.localnet.advance_clock(HOUR_MS)
    async with world.running(leader):
        events = await world.events_of(execution)
    change = next(event.change for event in events if isinstance(event, moves.ExecutionAdvanced))
    assert [failure.reason for failure in change.failures] == ["expired"]
    assert events[-1].status == "terminated"


class PlannedSteps:
    """The kinds of steps that leaders have planned for each execution."""

    def __init__(self):
        self._kinds = {}
        self._changed = asyncio.Event()

    def record(self, execution):
        self._kinds[execution.id] = {type(step) for step in execution.due}
        self._changed.set()

    async def until(self, execution, *kinds):
        """Wait until exactly these kinds of steps are planned."""
        async with asyncio.timeout(60):
            while self._kinds.get(execution) != set(kinds):
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
def planned(monkeypatch):
    """Record the steps of leaders that learn about executions only from events."""
    steps = PlannedSteps()
    plan, drop = ActiveExecution.plan, ActiveExecution.drop

    def plan_and_record(self, step, at_ms):
        plan(self, step, at_ms)
        steps.record(self)

    def drop_and_record(self, step):
        drop(self, step)
        steps.record(self)

    async def find_nothing(_):
        pass

    monkeypatch.setattr(ActiveExecution, "plan", plan_and_record)
    monkeypatch.setattr(ActiveExecution, "drop", drop_and_record)
    monkeypatch.setattr(ExecutionRunner, "search", find_nothing)
    return steps


async def test_second_leader_acts_when_the_first_one_does_not(world, counting, planned):
    absent, present = await world.new_leader("absent"), await world.new_leader("present")
    workflow = await world.publish(single())
    async with world.running(present):
        execution = await world.begin(workflow, ONE, leaders=[absent.id, present.id])
        own = await world.begin(workflow, ONE, leaders=[present.id])
        # When its own execution has ended, it has seen the events of both.
        assert (await world.ended(own)).status == "completed"
        await planned.until(execution, DeadlinePassed, RunReady)
        world.localnet.advance_clock(MINUTE_MS)
        requested = await world.events_of(execution, until=InvocationRequested)
        assert requested[-1].leaders == (absent.id, present.id)
        window_ms = (requested[-1].expires_at_ms - requested[-1].requested_at_ms) // 2
        world.localnet.advance_clock(window_ms)
        ended = await world.ended(execution)
    assert (ended.status, ended.steps) == ("completed", 1)


async def test_second_leader_acts_on_time_although_an_event_makes_it_read_the_execution(
    world, counting, planned, monkeypatch
):
    absent, present = await world.new_leader("absent"), await world.new_leader("present")
    workflow = await world.publish(single())
    async with world.running(present):
        execution = await world.begin(workflow, ONE, leaders=[absent.id, present.id])
        own = await world.begin(workflow, ONE, leaders=[present.id])
        assert (await world.ended(own)).status == "completed"
        await planned.until(execution, DeadlinePassed, RunReady)
        monkeypatch.setattr("nexus_tools.leader.executions.execution_runner._GRACE_MS", MINUTE_MS)
        await refill(world, execution)
        await planned.until(execution, DeadlinePassed, RunReady, FullRescan)
        world.localnet.advance_clock(2 * MINUTE_MS)
        await world.events_of(execution, until=InvocationRequested)


# --- Restarts


@pytest.mark.parametrize(
    "count", [1, *(pytest.param(count, marks=pytest.mark.long) for count in (0, 2, 5))]
)
async def test_killed_leader_advances_each_run_once_after_restart(world, counting, count):
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
            ended = [await world.ended(execution) for execution in begun]
    assert [execution.status for execution in ended] == ["completed"] * 3
    assert [await advanced_runs(world, execution) for execution in begun] == [[0, 1, 2]] * 3
    assert max(counting.asked.values()) <= 2


async def test_leader_without_a_journal_finds_older_executions(world, counting):
    leader = await world.new_leader()
    workflow = await world.publish(CHAIN)
    execution = await world.begin(workflow, CHAIN_INPUTS)
    world.localnet.advance_clock(HOUR_MS)
    async with world.running(leader, lookback_ms=0):
        assert (await world.ended(execution)).status == "completed"


async def test_leader_resumes_from_records_when_it_missed_events(world, counting):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    workflow = await world.publish(CHAIN)
    async with world.running(second):
        execution = await world.begin(workflow, CHAIN_INPUTS, leaders=[first.id])
        await send(world, moves.set_leader, execution, second.id)
        assert (await world.ended(execution)).status == "completed"


async def test_closing_is_sent_alone_when_the_leader_may_not_request_the_next_run(world, counting):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    workflow = await world.publish(CHAIN)
    counting.gate.clear()
    async with (
        world.running(first, check_meta=False) as closing,
        world.running(second, check_meta=False),
    ):
        execution = await world.begin(workflow, CHAIN_INPUTS, leaders=[first.id])
        await counting.wait_for(1)
        await send(world, moves.set_leader, execution, second.id)
        counting.gate.set()
        events = await world.events_of(execution)
        sample = closing.metrics.registry.get_sample_value
        assert sample("nexus_leader_invocations_closed_total", {"how": "settled"}) == 1
    requested = [event.leaders for event in events if isinstance(event, InvocationRequested)]
    assert requested == [(first.id,), (second.id,), (second.id,)]
    assert events[-1].status == "completed"


# --- Untrusted input


async def publish_with_document(world, document, chunks):
    """Publish a workflow whose document does not match its plan."""
    publication = Publication.of(document, ToolFqn.parse("xyz.example.garbage@1"), "")
    forged = replace(publication, chunks=tuple(chunks))
    builder = TransactionBuilder()
    dag = forged.draft(builder, world.deployment, has_name=False)
    for step in forged.steps(Progress()):
        step(builder, world.deployment, dag)
    calls.publish(builder, world.deployment.workflows, dag)
    sent = await world.invocations.send(builder)
    events = [event for event in world.parsed(sent) if isinstance(event, calls.DagPublished)]
    tools = tuple(dict.fromkeys(vertex.fqn for vertex in document.vertices))
    return PublishedWorkflow(
        events[0].dag,
        publication.fqn,
        events[0].name,
        "",
        document,
        publication.plan,
        tools,
        NO_SIZES,
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
async def test_unreadable_workflow_fails_only_its_own_runs(world, counting, chunk):
    leader = await world.new_leader()
    good = await world.publish(CHAIN)
    garbage = await publish_with_document(world, single(), [chunk])
    commands = StepCommands(world.deployment, garbage.id, garbage.plan)
    async with world.running(leader):
        execution = await world.begin(garbage, ONE)
        builder = TransactionBuilder()
        commands.add(builder, execution, leader.id, RequestRun(Run("one")))
        await world.invocations.send(builder)
        others = [await world.begin(good, CHAIN_INPUTS) for _ in range(2)]
        assert [(await world.ended(other)).status for other in others] == ["completed"] * 2
        events = await world.events_of(execution)
    change = next(event.change for event in events if isinstance(event, moves.ExecutionAdvanced))
    assert [failure.reason for failure in change.failures] == ["input_invalid"]
    assert events[-1].status == "terminated"


async def test_long_list_does_not_starve_other_executions(world, serve_tools, counting):
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
