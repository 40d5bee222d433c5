"""Executions with on-chain tools: their inputs put together on chain, waits and questions."""

from contextlib import asynccontextmanager

import pytest

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError
from nexus_tools.registry import Asks, Executions, read_records
from nexus_tools.sui.client import past_events
from nexus_tools.tool import ASK, WAIT, ToolFqn, ask_definition, wait_definition
from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Vertex,
    VertexKind,
)
from tests.leader.conftest import new_key

pytestmark = pytest.mark.anyio

DAY_MS = 24 * 60 * 60 * 1000
COUNT = "xyz.example.add@1"
SUM = "xyz.example.math.add@1"


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


def on_chain(name, fqn, **fields):
    return Vertex(name, fqn, VertexKind.ON_CHAIN, **fields)


WAITING = on_chain("wait", WAIT, entry_ports=("for_ms",))
ASKING = on_chain("ask", ASK, entry_ports=("who", "question"))


def document(vertices, edges=()):
    return Document(tuple(vertices), tuple(edges), dialect=DIALECT)


@pytest.fixture
async def waiting(world):
    package = str(world.deployment.original_id)
    await world.register_tool(ask_definition(package))
    await world.register_tool(wait_definition(package))


@pytest.fixture
async def adding(world, serve_tools, add_tool, add_definition):
    await world.register_tool(add_definition(await serve_tools(add_tool)))


async def begin(world, workflow, inputs, **terms):
    return await world.begin(workflow, inputs, **{"max_price_mist": 20_000_000, **terms})


async def outputs(world, execution):
    """How an execution ended, and what it came to."""
    ended = await world.ended(execution)
    state = await Executions(world.client, world.deployment).state(execution)
    return ended.status, {str(each.source): each.value for each in state.results}


@pytest.fixture
async def person(world):
    """Somebody who is asked, with a client."""
    key = new_key()
    world.localnet.fund(key.address, 10**10)
    async with world.client_of(key) as client:
        yield client


async def asked(world, execution, person):
    """The open questions to somebody, once an execution has asked."""
    await world.events_of(execution, until=InvocationRequested)
    return await Asks(person, world.deployment).open(person.address)


@asynccontextmanager
async def open_question(world, person, **terms):
    """A question to somebody, in an execution that a Leader carries: that one, and the question."""
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"who": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs, **terms)
        [question] = await asked(world, execution, person)
        yield execution, question


# --- Functions


async def test_values_flow_from_off_chain_tools_into_functions_and_back(world, counter, adding):
    leader = await world.new_leader()
    await world.register_tool(counter.definition())
    flow = document(
        [
            Vertex("sum", SUM, entry_ports=("a", "b")),
            on_chain("count", COUNT),
            Vertex("more", SUM, entry_ports=("b",)),
        ],
        [edge("sum.ok.result", "count.n"), edge("count.ok.total", "more.a")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        execution = await begin(world, workflow, {"sum": {"a": 3, "b": 4}, "more": {"b": 10}})
        assert await outputs(world, execution) == ("completed", {"more.ok.result": 17})
    assert await counter.total() == 7


async def test_a_step_of_a_function_is_one_transaction(world, counter):
    leader = await world.new_leader()
    await world.register_tool(counter.definition())
    vertices = [on_chain("first", COUNT, entry_ports=("n",)), on_chain("second", COUNT)]
    workflow = await world.publish(document(vertices, [edge("first.ok.total", "second.n")]))
    async with world.running(leader):
        execution = await begin(world, workflow, {"first": {"n": 2}})
        assert (await world.ended(execution)).status == "completed"
    assert await counter.total() == 4
    [requested] = [
        record.transaction_digest
        async for record in past_events(
            world.client, event_filter(world.deployment, moves.ExecutionAdvanced)
        )
        if parse_event(world.deployment, record.event).run.vertex == 0
    ]
    executed = await world.client.transaction(requested)
    kinds = [type(parse_event(world.deployment, each)).__name__ for each in executed.events]
    assert kinds == ["InvocationSettled", "ExecutionAdvanced", "InvocationRequested"]


async def test_a_function_that_aborts_is_a_failure_that_a_workflow_handles(world, counter, adding):
    leader = await world.new_leader()
    await world.register_tool(counter.definition())
    await counter.set_closed(True)
    flow = document(
        [
            on_chain("count", COUNT, entry_ports=("n",)),
            on_chain("again", COUNT, entry_ports=("n",)),
        ],
        [edge("count._err_eval.reason", "again._after")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        execution = await begin(world, workflow, {"count": {"n": 1}, "again": {"n": 1}})
        ended = await world.ended(execution)
    state = await Executions(world.client, world.deployment).state(execution)
    assert [each.reason for each in state.failures] == ["aborted"]
    assert ended.status == "terminated"


# --- Waiting


async def test_a_wait_is_over_when_its_time_has_come(world, waiting, adding):
    leader = await world.new_leader()
    flow = document(
        [
            on_chain("wait", WAIT, entry_ports=("for_ms",)),
            Vertex("sum", SUM, entry_ports=("a", "b")),
        ],
        [edge("wait.over.at_ms", "sum._after")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        inputs = {"wait": {"for_ms": 30 * DAY_MS}, "sum": {"a": 1, "b": 2}}
        execution = await begin(world, workflow, inputs, lasts_ms=60 * DAY_MS)
        await world.events_of(execution, until=InvocationRequested)
        world.localnet.advance_clock(30 * DAY_MS)
        assert await outputs(world, execution) == ("completed", {"sum.ok.result": 3})


async def test_a_person_answers_a_question_after_days_and_is_paid_for_the_gas(
    world, waiting, adding, person
):
    leader = await world.new_leader()
    flow = document([ASKING])
    workflow = await world.publish(flow)
    before = await person.balance(person.address)
    async with world.running(leader):
        inputs = {"ask": {"who": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs, lasts_ms=60 * DAY_MS)
        [question] = await asked(world, execution, person)
        assert (question.question, question.execution) == ("Shall we?", execution)
        world.localnet.advance_clock(50 * DAY_MS)
        answer = Asks(person, world.deployment).answer
        await answer(question.invocation, approve=True, note='Yes, "do" it.')
        status, found = await outputs(world, execution)
    said = {"ask.approved.who": str(person.address), "ask.approved.note": 'Yes, "do" it.'}
    assert (status, found) == ("completed", said)
    assert await person.balance(person.address) >= before
    assert await Asks(person, world.deployment).open(person.address) == []


async def test_who_answers_a_question_has_no_record_as_a_leader(world, waiting, person):
    async with open_question(world, person) as (execution, question):
        await Asks(person, world.deployment).answer(question.invocation, approve=True)
        await world.ended(execution)
    assert await read_records(PackageClient(person, world.deployment)) == {}


async def test_a_question_ends_with_the_execution_that_its_owner_cancels(world, waiting, person):
    async with open_question(world, person) as (execution, _):
        await Executions(world.client, world.deployment).cancel(execution)
        ended = await world.ended(execution)
    assert (ended.status, ended.refund_mist > 0) == ("cancelled", True)
    assert await Asks(person, world.deployment).open(person.address) == []


async def test_without_a_leader_an_answer_lets_an_execution_end_that_was_cancelled(
    world, waiting, person
):
    async with open_question(world, person) as (execution, question):
        pass
    executions, asks = Executions(world.client, world.deployment), Asks(person, world.deployment)
    await executions.cancel(execution)
    state = await executions.state(execution)
    assert [each.what for each in await executions.waits(state)] == ["closing", "answer"]
    assert (await asks.get(question.invocation)).ending == "cancelled"
    await asks.answer(question.invocation, approve=True)
    assert (await world.ended(execution)).status == "cancelled"


async def test_unpaid_end_of_a_question_is_left_to_the_owner(world, waiting, person, log):
    async with open_question(world, person, lasts_ms=DAY_MS) as (execution, _):
        world.localnet.advance_clock(DAY_MS)
        # No fee has paid the leader for ending it, so that is left to its owner.
        await log.wait_for("unprofitable")
        verbs = Executions(world.client, world.deployment)
        assert (await verbs.get(execution)).walks.ending is None
        await verbs.expire(execution)
        assert (await verbs.get(execution)).walks.ending == "timed_out"


async def test_a_question_ends_with_an_execution_that_something_else_terminates(
    world, waiting, person
):
    leader = await world.new_leader()
    flow = document([ASKING, on_chain("wrong", ASK, entry_ports=("who", "question"))])
    workflow = await world.publish(flow)
    async with world.running(leader):
        asking = {"who": str(person.address), "question": "Shall we?"}
        inputs = {"ask": asking, "wrong": asking | {"who": "my uncle"}}
        execution = await begin(world, workflow, inputs, lasts_ms=60 * DAY_MS)
        assert (await world.ended(execution)).status == "terminated"


async def test_nobody_else_answers_a_question(world, waiting, person):
    async with open_question(world, person) as (_, question):
        with pytest.raises(NexusError) as error:
            await Asks(world.client, world.deployment).answer(question.invocation, approve=True)
    assert error.value.code == "not_asked"


async def test_a_question_without_an_answer_expires_and_the_workflow_goes_on(
    world, waiting, adding, person
):
    leader = await world.new_leader()
    flow = document(
        [
            on_chain("ask", ASK, entry_ports=("who", "question", "within_ms")),
            Vertex("sum", SUM, entry_ports=("a", "b")),
        ],
        [edge("ask.expired.at_ms", "sum._after")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        asking = {"who": str(person.address), "question": "Now?", "within_ms": DAY_MS}
        inputs = {"ask": asking, "sum": {"a": 1, "b": 2}}
        execution = await begin(world, workflow, inputs, lasts_ms=60 * DAY_MS)
        await asked(world, execution, person)
        world.localnet.advance_clock(DAY_MS)
        assert await outputs(world, execution) == ("completed", {"sum.ok.result": 3})


async def test_a_question_to_nobody_is_failed_at_once(world, waiting):
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"who": "my uncle", "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs)
        assert (await world.ended(execution)).status == "terminated"


async def test_a_question_to_nobody_hides_no_other_one(world, waiting, person):
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"who": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs)
        await asked(world, execution, person)
    # Without a leader it stays open.
    tool = await world.tools.get(ToolFqn.parse(ASK))
    await world.request(tool, {"who": "my uncle", "question": "Shall we?"}, {"who": 1})
    [question] = await Asks(person, world.deployment).open()
    assert question.execution == execution


async def test_a_leader_that_is_started_again_sees_to_what_waits(world, waiting):
    leader = await world.new_leader()
    workflow = await world.publish(document([WAITING]))
    async with world.running(leader):
        execution = await begin(world, workflow, {"wait": {"for_ms": DAY_MS}}, lasts_ms=60 * DAY_MS)
        await world.events_of(execution, until=InvocationRequested)
    world.localnet.advance_clock(2 * DAY_MS)
    async with world.running(leader):
        assert (await world.ended(execution)).status == "completed"
