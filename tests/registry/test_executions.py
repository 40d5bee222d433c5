"""Executions for those who own them: begun, carried by a worker in the test, looked at, cleaned."""

import json

import pytest

from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, ValidationError
from nexus_tools.package.move.invocation import InvocationRequested
from nexus_tools.package.move.workflows.execution import ExecutionEnded
from nexus_tools.registry import (
    Executions,
    Foresight,
    StepCommands,
    add_advance,
    add_outcome,
    closed_with,
)
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import Status, read_document
from tests.workflow.notation import flow

ADD = "xyz.example.math.add@1"
TWICE = ("> one.a", "> one.b", "one.ok.result -> two.a", "two.b = 7", "two.ok.result >")
SUI = 1_000_000_000


def document(*lines, **fields):
    written = flow(*lines, **fields)
    for vertex in written["vertices"]:
        vertex["kind"]["tool_fqn"] = ADD
    return read_document(json.dumps(written))[0]


@pytest.fixture
def publish(workflows, added):
    """Publishes a workflow of lines in the notation of tests."""

    async def publish(*lines, fqn="xyz.example.sum@1", **fields):
        await workflows.publish(document(*lines, **fields), fqn)
        return await workflows.get(fqn)

    return publish


@pytest.fixture
def executions(user, chain):
    """The executions, for who begins them."""
    return Executions(user, chain.deployment)


@pytest.fixture
async def twice(publish):
    return await publish(*TWICE)


class Worker:
    """Closes runs as a leader's worker does, with all that follows in the same transaction."""

    def __init__(self, client, deployment, leader):
        self.executions = Executions(client, deployment)
        self.leader = leader

    async def carry(self, workflow, execution, outcome):
        """Closes what is under way with what `outcome` gives for its run, until nothing is."""
        while closing := await self.open(execution):
            for run, invocation in closing:
                await self.close(workflow, execution, run, invocation, outcome(run))

    async def open(self, execution):
        state = await self.executions.state(execution)
        return [
            (each.run, each.invocation)
            for each in state.runs.values()
            if each.invocation is not None and not each.invocation.is_closed
        ]

    async def close(self, workflow, execution, run, invocation, outcome):
        builder, deployment = TransactionBuilder(), self.executions.deployment
        add_outcome(builder, deployment, invocation.id, self.leader, outcome)
        add_advance(builder, deployment, execution, workflow.id, invocation.id)
        foresight = Foresight(workflow.plan)
        foresight.closed(run, invocation.attempt.number, closed_with(outcome))
        commands = StepCommands(deployment, workflow.id, workflow.plan)
        for step in foresight.steps():
            commands.add(builder, execution, self.leader, step)
        return await self.executions.send(builder)


@pytest.fixture
def worker(leader, chain, active_leader):
    return Worker(leader, chain.deployment, active_leader)


def adds(inputs):
    return lambda run: Answer("ok", {"result": inputs[run.vertex]})


async def test_an_execution_is_begun_with_its_first_run_under_way(executions, twice, worker, user):
    before = await user.balance(user.address)
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    assert begun.leaders == (worker.leader,)
    requested = executions.emitted(begun.sent, InvocationRequested)
    assert requested.attempt.execution == begun.execution
    state = await executions.state(begun.execution)
    # Who requests is paid what the records take: here, that is the owner.
    stored = begun.funds_mist - state.execution.funds - requested.payment_mist
    spent = before - await user.balance(user.address)
    assert stored > 0
    assert spent == begun.funds_mist + begun.sent.cost.net - stored
    assert state.status is Status.RUNNING
    assert [str(run) for run in state.runs] == ["one"]
    assert state.vertex_states()["one"].running == 1
    assert state.outputs() == {}


async def test_what_it_came_to_is_read_from_the_chain(executions, twice, worker, user):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, begun.execution, adds({"one": 3, "two": 10}))
    state = await executions.wait(begun.execution)
    assert state.status is Status.COMPLETED
    assert state.outputs() == {"two.ok.result": 10}
    assert state.failures == ()
    assert state.execution.funds == 0


async def test_the_funds_that_are_reckoned_are_enough_and_what_is_left_comes_back(
    executions, twice, worker, user
):
    before = await user.balance(user.address)
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, begun.execution, adds({"one": 3, "two": 10}))
    steps = await executions.history(begun.execution)
    [ended] = [each.event for each in steps if isinstance(each.event, ExecutionEnded)]
    spent = before - await user.balance(user.address) - begun.sent.cost.net
    assert begun.cost.begin_mist < begun.cost.once_mist == begun.cost.most_mist
    assert 0 < spent <= begun.funds_mist - ended.refund_mist < begun.cost.once_mist


async def test_why_it_failed_is_told_in_a_sentence(executions, twice, worker):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    failure = Failure(FailureReason.UNREACHABLE, "nobody listens")
    await worker.carry(twice, begun.execution, lambda _run: failure)
    state = await executions.wait(begun.execution)
    assert state.status is Status.TERMINATED
    [failed] = state.failures
    assert failed.sentence == f"one failed, unreachable: nobody listens ({ADD})"
    assert state.vertex_states()["one"].failed == 1


async def test_all_that_is_left_is_cleaned_up_for_what_it_took(executions, twice, worker, user):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    with pytest.raises(NotNowError) as refused:
        await executions.clean(begun.execution)
    assert refused.value.code == "not_ended"
    await worker.carry(twice, begun.execution, adds({"one": 3, "two": 10}))
    before = await user.balance(user.address)
    cleaned = await executions.clean(begun.execution)
    assert await user.balance(user.address) == before + cleaned.back_mist
    assert cleaned.back_mist > 0
    with pytest.raises(NotFoundError):
        await executions.get(begun.execution)
    [listed] = await executions.list()
    assert listed.execution is None
    assert listed.begun.execution == begun.execution


async def test_a_cancelled_execution_is_cleaned_up_once_nobody_can_close_its_runs(
    executions, twice, worker, chain
):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    await executions.cancel(begun.execution)
    assert (await executions.get(begun.execution)).ended_at_ms is None
    with pytest.raises(NotNowError):
        await executions.clean(begun.execution)
    chain.net.advance_clock(60_000)
    await executions.clean(begun.execution)
    assert await executions.find(begun.execution) is None


async def test_only_its_owner_ends_it_and_anyone_refills_it(executions, twice, worker, owner):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    others = Executions(owner, executions.deployment)
    with pytest.raises(NotAllowedError):
        await others.cancel(begun.execution)
    before = (await executions.get(begun.execution)).funds
    await others.refill(begun.execution, SUI)
    assert (await executions.get(begun.execution)).funds == before + SUI


async def test_what_does_not_fit_is_refused_before_money_moves(executions, twice, worker, user):
    before = await user.balance(user.address)
    with pytest.raises(ValidationError) as refused:
        await executions.begin(twice, {"a": "one", "one.b": 2})
    assert refused.value.code == "input_invalid"
    assert "one.a" in refused.value.message
    with pytest.raises(NotNowError) as refused:
        await executions.begin(twice, {"a": 1, "one.b": 2}, funds_mist=1_000)
    assert refused.value.code == "funds_too_small"
    assert await user.balance(user.address) == before
