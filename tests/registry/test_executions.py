"""Executions for those who own them: begun, carried by a worker in the test, looked at, cleaned."""

import json
import re

import pytest

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionBegun, ExecutionEnded
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, ValidationError
from nexus_tools.registry import (
    Executions,
    Foresight,
    StepCommands,
    WaitsFor,
    add_advance,
    add_outcome,
    closed_with,
)
from nexus_tools.registry.invocations import history
from nexus_tools.sui.client import past_events as client_events
from nexus_tools.sui.support.units import parse_sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import DIALECT, Run, Status, read_document
from tests.workflow.notation import flow

ADD = "xyz.example.math.add@1"
TWICE = ("> one.a", "> one.b", "one.ok.result -> two.a", "two.b = 7", "two.ok.result >")
SUI = 1_000_000_000


def document(*lines, vertices=None, **fields):
    written = flow(*lines, **fields)
    for vertex in written["vertices"]:
        vertex["kind"]["tool_fqn"] = ADD
        vertex.update((vertices or {}).get(vertex["name"], {}))
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


async def test_what_happened_is_looked_for_from_the_beginning_of_the_execution_on(
    executions, twice, worker, monkeypatch
):
    """What anybody did before, on a chain of years, is not read."""
    before, asked = await executions.client.latest_checkpoint(), []

    def past_events(client, kinds, after=None):
        asked.append(after)
        return client_events(client, kinds, after)

    monkeypatch.setattr(history, "past_events", past_events)
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    steps = await executions.history(begun.execution)
    assert [type(each.event) for each in steps] == [ExecutionBegun, InvocationRequested]
    [after] = asked
    assert after.checkpoint >= before


async def test_what_it_takes_to_begin_is_what_the_runs_take_that_wait_for_nobody(
    executions, publish, worker
):
    ports = ("> one.a", "> one.b", "> two.b", "one.ok.result -> two.a")
    workflow = await publish(*ports, dialect=DIALECT)
    cost = await executions.cost(workflow)
    assert [each.vertex for each in cost.vertices] == ["one", "two"]
    assert cost.begin_mist == cost.vertices[0].first_mist
    inputs = {"a": 1, "one.b": 2, "two.b": 3}
    begun = await executions.begin(workflow, inputs, funds_mist=cost.begin_mist)
    state = await executions.state(begun.execution)
    assert [run.vertex for run in state.runs] == ["one"]


async def test_what_terminated_it_is_told_and_not_what_failed_before(executions, publish, worker):
    goes_on = {"one": {"post_failure_action": "continue"}}
    ends = ("> one.a", "> one.b", "> two.a", "> two.b")
    either = await publish(*ends, vertices=goes_on, dialect=DIALECT)
    begun = await executions.begin(either, dict.fromkeys(("one.a", "one.b", "two.a", "two.b"), 1))
    failure = Failure(FailureReason.UNREACHABLE, "")
    under_way = sorted(await worker.open(begun.execution), key=lambda each: each[0])
    for run, invocation in under_way:
        await worker.close(either, begun.execution, run, invocation, failure)
    state = await executions.state(begun.execution)
    assert [each.run.vertex for each in state.failures] == ["one", "two"]
    assert state.early_end.endswith(f"was terminated: two failed, unreachable ({ADD})")


async def test_all_that_is_left_is_cleaned_up_for_what_it_took(executions, twice, worker, user):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    with pytest.raises(NotNowError) as refused:
        await executions.clean(begun.execution)
    assert refused.value.code == "not_ended"
    await worker.carry(twice, begun.execution, adds({"one": 3, "two": 10}))
    before = await user.balance(user.address)
    rehearsed = await Executions(user, executions.deployment, dry_run=True).clean(begun.execution)
    cleaned = await executions.clean(begun.execution)
    assert (len(cleaned.sent), rehearsed.unsent) == (1, 0)
    assert rehearsed.back_mist == cleaned.back_mist
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
    assert refused.value.message.startswith("the input a does not fit: ")
    with pytest.raises(NotNowError) as refused:
        await executions.begin(twice, {"a": 1, "one.b": 2}, funds_mist=1_000)
    assert refused.value.code == "funds_too_small"
    assert await user.balance(user.address) == before


# --- What a running execution waits for


async def waits_of(executions, execution):
    return await executions.waits(await executions.state(execution))


async def test_what_is_under_way_waits_for_the_leader_that_was_named(
    executions, twice, worker, chain
):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    chain.net.advance_clock(3_000)
    [wait] = await waits_of(executions, begun.execution)
    assert (wait.what, wait.run) == (WaitsFor.OUTCOME, Run("one"))
    assert wait.leaders == (worker.leader,)
    assert re.match(r"one was requested \d+ s ago, and the leader 0x", wait.sentence)


async def test_who_is_short_of_funds_is_told_what_is_needed_and_what_brings_it(
    executions, twice, worker
):
    cost = await executions.cost(twice)
    begun = await executions.begin(twice, {"a": 1, "one.b": 2}, funds_mist=cost.begin_mist)
    await worker.carry(twice, begun.execution, adds({"one": 3}))
    [wait] = await waits_of(executions, begun.execution)
    state = await executions.state(begun.execution)
    assert wait.what is WaitsFor.FUNDS
    assert wait.funds_mist == state.execution.funds < wait.needed_mist
    command, amount = wait.sentence.rstrip("`").rsplit(" ", 1)
    assert command.endswith(f"nexus-tools workflow refill {begun.execution}")
    await executions.refill(begun.execution, parse_sui(amount))
    [wait] = await waits_of(executions, begun.execution)
    assert (wait.what, wait.run) == (WaitsFor.LEADER, Run("two"))
    assert "two is ready, and the leader" in wait.sentence


async def test_what_expired_waits_for_somebody_to_go_on(executions, twice, chain, worker):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    chain.net.advance_clock(60_000)
    waits = await waits_of(executions, begun.execution)
    assert [(each.what, each.run) for each in waits] == [(WaitsFor.LEADER, Run("one"))]
    said = waits[0].sentence
    assert said.startswith("one expired at ")
    assert f"`nexus-tools workflow cancel {begun.execution}` ends the execution" in said


async def test_an_execution_whose_time_is_over_waits_for_somebody_who_ends_it(
    executions, twice, chain, worker
):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2}, lasts_ms=1_000)
    chain.net.advance_clock(2_000)
    over, under_way = await waits_of(executions, begun.execution)
    assert f"`nexus-tools workflow cancel {begun.execution} --expired`" in over.sentence
    assert under_way.what is WaitsFor.OUTCOME
    await executions.expire(begun.execution)
    closing, under_way = await waits_of(executions, begun.execution)
    assert closing.what is WaitsFor.CLOSING
    assert closing.sentence.startswith("timed out")


async def test_a_run_that_failed_waits_until_it_is_tried_again(executions, publish, worker):
    twice = {"one": {"attempts": 2, "retry_after_ms": 60_000}}
    again = await publish("> one.a", "> one.b", vertices=twice, dialect=DIALECT)
    begun = await executions.begin(again, {"a": 1, "b": 2})
    await worker.carry(again, begun.execution, lambda _: Failure(FailureReason.UNREACHABLE, ""))
    [wait] = await waits_of(executions, begun.execution)
    assert (wait.what, wait.run) == (WaitsFor.TIME, Run("one"))


async def test_what_has_ended_waits_for_nothing(executions, twice, worker):
    begun = await executions.begin(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, begun.execution, adds({"one": 3, "two": 10}))
    assert await waits_of(executions, begun.execution) == ()
