"""Executions with on-chain tools: inputs assembled on chain, waits and questions."""

from contextlib import asynccontextmanager

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError
from nexus_tools.registry import (
    Executions,
    LeaderHistories,
    LeaderRegistry,
    Questions,
    make_proof,
    pages,
    read_histories,
    verify_proof,
)
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


WAITING = on_chain("wait", WAIT, entry_ports=("duration_ms",))
ASKING = on_chain("ask", ASK, entry_ports=("answerer", "question"))


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
    """Return the status of an ended execution and its outputs."""
    ended = await world.ended(execution)
    state = await Executions(world.client, world.deployment).state(execution)
    return ended.status, {str(result.source): result.value for result in state.results}


@pytest.fixture
async def person(world):
    """Return a client for the account that answers questions."""
    key = new_key()
    world.localnet.fund(key.address, 10**10)
    async with world.client_of(key) as client:
        yield client


async def wait_for_questions(world, execution, person):
    """Return the open questions to an account as soon as an execution has asked one."""
    await world.events_of(execution, until=InvocationRequested)
    return (await Questions(person, world.deployment).open(person.address)).items


@asynccontextmanager
async def open_question(world, person, **terms):
    """Yield an execution that a Leader runs, and its open question to an account."""
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"answerer": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs, **terms)
        [question] = await wait_for_questions(world, execution, person)
        yield execution, question


# --- Functions


async def test_values_flow_between_off_chain_tools_and_functions(world, counter, adding):
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


async def test_step_of_a_function_is_one_transaction(world, counter):
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
    kinds = [type(parse_event(world.deployment, event)).__name__ for event in executed.events]
    assert kinds == ["InvocationSettled", "ExecutionAdvanced", "InvocationRequested"]


async def test_workflow_handles_a_function_that_aborts(world, counter, adding):
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
    assert [failure.reason for failure in state.failures] == ["aborted"]
    assert ended.status == "terminated"


# --- Timed calls


async def test_wait_ends_at_its_time(world, waiting, adding):
    leader = await world.new_leader()
    flow = document(
        [
            on_chain("wait", WAIT, entry_ports=("duration_ms",)),
            Vertex("sum", SUM, entry_ports=("a", "b")),
        ],
        [edge("wait.over.at_ms", "sum._after")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        inputs = {"wait": {"duration_ms": 30 * DAY_MS}, "sum": {"a": 1, "b": 2}}
        execution = await begin(world, workflow, inputs, duration_ms=60 * DAY_MS)
        await world.events_of(execution, until=InvocationRequested)
        world.localnet.advance_clock(30 * DAY_MS)
        assert await outputs(world, execution) == ("completed", {"sum.ok.result": 3})


async def test_answer_after_days_pays_the_gas_of_its_sender(world, waiting, adding, person):
    leader = await world.new_leader()
    flow = document([ASKING])
    workflow = await world.publish(flow)
    before = await person.balance(person.address)
    async with world.running(leader):
        inputs = {"ask": {"answerer": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs, duration_ms=60 * DAY_MS)
        [question] = await wait_for_questions(world, execution, person)
        assert (question.question, question.execution) == ("Shall we?", execution)
        world.localnet.advance_clock(50 * DAY_MS)
        answer = Questions(person, world.deployment).answer
        await answer(question.invocation, approve=True, note='Yes, "do" it.')
        status, results = await outputs(world, execution)
    said = {"ask.approved.answerer": str(person.address), "ask.approved.note": 'Yes, "do" it.'}
    assert (status, results) == ("completed", said)
    assert await person.balance(person.address) >= before
    proof = await make_proof(person, world.deployment, question.invocation)
    assert (proof.call.settlement, proof.call.leader) == ("anyone", person.address)
    assert (await verify_proof(person, world.deployment, proof)).is_valid
    assert (await Questions(person, world.deployment).open(person.address)).items == ()


async def test_sender_of_an_answer_has_no_track_record_as_a_leader(world, waiting, person):
    async with open_question(world, person) as (execution, question):
        await Questions(person, world.deployment).answer(question.invocation, approve=True)
        await world.ended(execution)
    leaders = LeaderRegistry(person, world.deployment)
    world.localnet.fund(person.address, 20 * 10**9)
    await leaders.register("person")
    found = (await leaders.list()).items
    assert len(found) == 2
    assert await read_histories(leaders, found) == LeaderHistories()


async def test_question_ends_when_the_owner_cancels_its_execution(world, waiting, person):
    async with open_question(world, person) as (execution, _):
        await Executions(world.client, world.deployment).cancel(execution)
        ended = await world.ended(execution)
    assert (ended.status, ended.refund_mist > 0) == ("cancelled", True)
    assert (await Questions(person, world.deployment).open(person.address)).items == ()


async def test_answer_without_a_leader_ends_a_cancelled_execution(world, waiting, person):
    async with open_question(world, person) as (execution, question):
        pass
    executions, asks = (
        Executions(world.client, world.deployment),
        Questions(person, world.deployment),
    )
    await executions.cancel(execution)
    state = await executions.state(execution)
    assert [wait.reason for wait in await executions.wait_reasons(state)] == ["closing", "answer"]
    assert (await asks.get(question.invocation)).decided_status == "cancelled"
    await asks.answer(question.invocation, approve=True)
    assert (await world.ended(execution)).status == "cancelled"


async def test_unpaid_end_of_a_question_is_left_to_the_owner(world, waiting, person, log):
    async with open_question(world, person, duration_ms=DAY_MS) as (execution, _):
        world.localnet.advance_clock(DAY_MS)
        # The leader earned no fee for ending it, so this is left to the owner.
        await log.wait_for("unprofitable")
        verbs = Executions(world.client, world.deployment)
        assert (await verbs.get(execution)).progress.ending is None
        await verbs.expire(execution)
        assert (await verbs.get(execution)).progress.ending == "timed_out"


async def test_question_ends_when_another_run_terminates_its_execution(world, waiting, person):
    leader = await world.new_leader()
    flow = document([ASKING, on_chain("wrong", ASK, entry_ports=("answerer", "question"))])
    workflow = await world.publish(flow)
    async with world.running(leader):
        asking = {"answerer": str(person.address), "question": "Shall we?"}
        inputs = {"ask": asking, "wrong": asking | {"answerer": "my uncle"}}
        execution = await begin(world, workflow, inputs, duration_ms=60 * DAY_MS)
        assert (await world.ended(execution)).status == "terminated"


async def test_another_account_cannot_answer_a_question(world, waiting, person):
    async with open_question(world, person) as (_, question):
        with pytest.raises(NexusError) as error:
            await Questions(world.client, world.deployment).answer(
                question.invocation, approve=True
            )
    assert error.value.code == "not_answerer"


async def test_unanswered_question_expires_and_the_workflow_continues(
    world, waiting, adding, person
):
    leader = await world.new_leader()
    flow = document(
        [
            on_chain("ask", ASK, entry_ports=("answerer", "question", "timeout_ms")),
            Vertex("sum", SUM, entry_ports=("a", "b")),
        ],
        [edge("ask.expired.at_ms", "sum._after")],
    )
    workflow = await world.publish(flow)
    async with world.running(leader):
        asking = {"answerer": str(person.address), "question": "Now?", "timeout_ms": DAY_MS}
        inputs = {"ask": asking, "sum": {"a": 1, "b": 2}}
        execution = await begin(world, workflow, inputs, duration_ms=60 * DAY_MS)
        await wait_for_questions(world, execution, person)
        world.localnet.advance_clock(DAY_MS)
        assert await outputs(world, execution) == ("completed", {"sum.ok.result": 3})


async def test_question_without_a_recipient_fails_immediately(world, waiting):
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"answerer": "my uncle", "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs)
        assert (await world.ended(execution)).status == "terminated"


async def test_question_without_a_recipient_does_not_hide_others(world, waiting, person):
    leader = await world.new_leader()
    workflow = await world.publish(document([ASKING]))
    async with world.running(leader):
        inputs = {"ask": {"answerer": str(person.address), "question": "Shall we?"}}
        execution = await begin(world, workflow, inputs)
        await wait_for_questions(world, execution, person)
    # Without a leader it stays open.
    tool = await world.tools.get(ToolFqn.parse(ASK))
    await world.request(tool, {"answerer": "my uncle", "question": "Shall we?"}, {"answerer": 1})
    [question] = (await Questions(person, world.deployment).open()).items
    assert question.execution == execution


async def test_questions_are_found_among_the_requests_of_other_tools(
    world, adding, waiting, person, monkeypatch
):
    monkeypatch.setattr(pages, "MAX_SCANNED", 3)
    leader = await world.new_leader()
    ask = await world.tools.get(ToolFqn.parse(ASK))
    inputs = [{"answerer": str(person.address), "question": f"Shall we? {n}"} for n in range(2)]
    asked = await world.request(ask, *inputs, leaders=[leader.id])
    add = await world.tools.get(ToolFqn.parse(SUM))
    await world.request(add, *({"a": 1, "b": 2} for _ in range(5)), leaders=[leader.id])
    questions = Questions(person, world.deployment)
    newest = await questions.open(person.address, limit=1)
    assert [question.invocation for question in newest.items] == [asked[1]]
    older = await questions.open(person.address, limit=1, before=newest.next)
    assert [question.invocation for question in older.items] == [asked[0]]


async def test_restarted_leader_resumes_timed_calls(world, waiting):
    leader = await world.new_leader()
    workflow = await world.publish(document([WAITING]))
    async with world.running(leader):
        execution = await begin(
            world, workflow, {"wait": {"duration_ms": DAY_MS}}, duration_ms=60 * DAY_MS
        )
        await world.events_of(execution, until=InvocationRequested)
    world.localnet.advance_clock(2 * DAY_MS)
    async with world.running(leader):
        assert (await world.ended(execution)).status == "completed"
