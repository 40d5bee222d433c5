"""Executions as their owners use them: start, read, refill, cancel and clean up.

A worker in the test closes the runs.
"""

import json
import re

import pytest

from nexus_tools.contracts.move_bindings.invocation import InvocationFailed, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionAdvanced,
    ExecutionEnded,
    ExecutionStarted,
)
from nexus_tools.errors import NotAllowedError, NotFoundError, ValidationError, WrongStateError
from nexus_tools.registry import (
    Executions,
    Invocations,
    StepCommands,
    StepPredictor,
    WaitReason,
    add_advance,
    add_outcome,
    execution_outcome,
    make_proof,
    pages,
    verify_proof,
)
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
    """Return a function that publishes a workflow from lines in the notation of tests."""

    async def publish(*lines, fqn="xyz.example.sum@1", **fields):
        await workflows.publish(document(*lines, **fields), fqn)
        return await workflows.get(fqn)

    return publish


@pytest.fixture
def executions(user, chain):
    """Return the executions with the wallet of the user."""
    return Executions(user, chain.deployment)


@pytest.fixture
async def twice(publish):
    return await publish(*TWICE)


class Worker:
    """Closes runs as a leader's worker does, with all next steps in the same transaction."""

    def __init__(self, client, deployment, leader):
        self.executions = Executions(client, deployment)
        self.leader = leader

    async def carry(self, workflow, execution, outcome):
        """Close pending runs with the result of `outcome` until no run is pending."""
        while closing := await self.open(execution):
            for run, invocation in closing:
                await self.close(workflow, execution, run, invocation, outcome(run))

    async def open(self, execution):
        state = await self.executions.state(execution)
        return [
            (run.run, run.invocation)
            for run in state.runs.values()
            if run.invocation is not None and not run.invocation.is_closed
        ]

    async def close(self, workflow, execution, run, invocation, outcome):
        builder, deployment = TransactionBuilder(), self.executions.deployment
        add_outcome(builder, deployment, invocation.id, self.leader, outcome)
        add_advance(builder, deployment, execution, workflow.id, invocation.id)
        foresight = StepPredictor(workflow.plan)
        foresight.add_closing(run, invocation.attempt.number, execution_outcome(outcome))
        commands = StepCommands(deployment, workflow.id, workflow.plan)
        for step in foresight.steps():
            commands.add(builder, execution, self.leader, step)
        return await self.executions.send(builder)


@pytest.fixture
def worker(leader, chain, active_leader):
    return Worker(leader, chain.deployment, active_leader)


def adds(inputs):
    return lambda run: Answer("ok", {"result": inputs[run.vertex]})


async def test_begin_requests_the_first_run(executions, twice, worker, user):
    before = await user.balance(user.address)
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    assert started.leaders == (worker.leader,)
    requested = executions.emitted(started.sent, InvocationRequested)
    assert requested.attempt.execution == started.execution
    state = await executions.state(started.execution)
    # The sender of a request is paid for the records. Here, that is the owner.
    stored = started.funds_mist - state.execution.funds - requested.payment_mist
    spent = before - await user.balance(user.address)
    assert stored > 0
    assert spent == started.funds_mist + started.sent.cost.net - stored
    assert state.status is Status.RUNNING
    assert [str(run) for run in state.runs] == ["one"]
    assert state.vertex_states()["one"].running == 1
    assert state.outputs() == {}


async def test_state_reads_results_from_chain(executions, twice, worker, user):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    state = await executions.wait(started.execution)
    assert state.status is Status.COMPLETED
    assert state.outputs() == {"two.ok.result": 10}
    assert state.failures == ()
    assert state.execution.funds == 0


async def test_estimated_funds_suffice_and_rest_is_refunded(executions, twice, worker, user):
    before = await user.balance(user.address)
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    steps = await executions.history(started.execution)
    [ended] = [step.event for step in steps if isinstance(step.event, ExecutionEnded)]
    spent = before - await user.balance(user.address) - started.sent.cost.net
    assert started.cost.start_mist < started.cost.single_pass_mist == started.cost.maximum_mist
    assert 0 < spent <= started.funds_mist - ended.refund_mist < started.cost.single_pass_mist


async def test_failure_has_a_readable_message(executions, twice, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    failure = Failure(FailureReason.UNREACHABLE, "connection refused")
    await worker.carry(twice, started.execution, lambda _run: failure)
    state = await executions.wait(started.execution)
    assert state.status is Status.TERMINATED
    [failed] = state.failures
    assert failed.message == f"one failed, unreachable: connection refused ({ADD})"
    assert state.vertex_states()["one"].failed == 1


async def test_call_of_an_execution_can_be_proved(executions, twice, worker, user, chain):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    state = await executions.state(started.execution)
    for run in state.runs.values():
        proof = await make_proof(user, chain.deployment, run.invocation.id)
        verification = await verify_proof(user, chain.deployment, proof)
        assert verification.is_valid, verification.failed
        assert (proof.call.execution, proof.call.inputs) == (started.execution, None)
        assert proof.call.requester == user.address
        assert any("The inputs" in limit for limit in proof.statements.does_not_prove)


async def test_history_of_a_deleted_execution_remains(executions, twice, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    before = await executions.history(started.execution)
    await executions.clean(started.execution)
    assert await executions.history(started.execution) == before


async def test_cost_of_reading_an_execution_ignores_other_executions(
    executions, twice, worker, requests
):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    failure = Failure(FailureReason.UNREACHABLE, "")
    await worker.carry(twice, started.execution, lambda _run: failure)

    async def read():
        requests.clear()
        state = await executions.state(started.execution)
        await executions.spent_mist(state)
        await executions.history(started.execution)
        return dict(requests)

    before = await read()
    for _ in range(2):
        other = await executions.start(twice, {"a": 1, "one.b": 2})
        await worker.carry(twice, other.execution, lambda _run: failure)
    assert await read() == before
    assert "ListEvents" not in before


async def test_history_contains_closings_of_separate_transactions(executions, twice, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    [(_run, invocation)] = await worker.open(started.execution)
    builder, deployment = TransactionBuilder(), executions.deployment
    failure = Failure(FailureReason.UNREACHABLE, "connection refused")
    add_outcome(builder, deployment, invocation.id, worker.leader, failure)
    await worker.executions.send(builder)
    kinds = [ExecutionStarted, InvocationRequested, InvocationFailed]
    steps = await executions.history(started.execution)
    assert [type(step.event) for step in steps] == kinds
    builder = TransactionBuilder()
    add_advance(builder, deployment, started.execution, twice.id, invocation.id)
    await worker.executions.send(builder)
    steps = await executions.history(started.execution)
    assert [type(step.event) for step in steps] == [*kinds, ExecutionAdvanced, ExecutionEnded]
    [failed] = (await executions.state(started.execution)).failures
    assert (failed.detail, failed.invocation) == ("connection refused", invocation.id)


async def test_cost_of_start_covers_runs_that_are_ready_at_once(executions, publish, worker):
    ports = ("> one.a", "> one.b", "> two.b", "one.ok.result -> two.a")
    workflow = await publish(*ports, dialect=DIALECT)
    cost = await executions.estimate_cost(workflow)
    assert [vertex.vertex for vertex in cost.vertices] == ["one", "two"]
    assert cost.start_mist == cost.vertices[0].first_run_mist
    inputs = {"a": 1, "one.b": 2, "two.b": 3}
    started = await executions.start(workflow, inputs, funds_mist=cost.start_mist)
    state = await executions.state(started.execution)
    assert [run.vertex for run in state.runs] == ["one"]


async def test_fatal_is_the_terminating_failure_not_an_earlier_one(executions, publish, worker):
    goes_on = {"one": {"post_failure_action": "continue"}}
    ends = ("> one.a", "> one.b", "> two.a", "> two.b")
    either = await publish(*ends, vertices=goes_on, dialect=DIALECT)
    started = await executions.start(either, dict.fromkeys(("one.a", "one.b", "two.a", "two.b"), 1))
    failure = Failure(FailureReason.UNREACHABLE, "")
    under_way = sorted(await worker.open(started.execution), key=lambda entry: entry[0])
    for run, invocation in under_way:
        await worker.close(either, started.execution, run, invocation, failure)
    state = await executions.state(started.execution)
    assert [failure.run.vertex for failure in state.failures] == ["one", "two"]
    assert state.early_end_reason.endswith(f"was terminated: two failed, unreachable ({ADD})")


async def test_clean_deletes_all_objects_for_their_rebate(executions, twice, worker, user):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    with pytest.raises(WrongStateError) as refused:
        await executions.clean(started.execution)
    assert refused.value.code == "execution_not_ended"
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    before = await user.balance(user.address)
    rehearsed = await Executions(user, executions.deployment, dry_run=True).clean(started.execution)
    cleaned = await executions.clean(started.execution)
    assert (len(cleaned.sent), rehearsed.unsent) == (1, 0)
    assert rehearsed.returned_mist == cleaned.returned_mist
    assert await user.balance(user.address) == before + cleaned.returned_mist
    assert cleaned.returned_mist > 0
    with pytest.raises(NotFoundError):
        await executions.get(started.execution)
    [listed] = (await executions.list()).items
    assert listed.execution is None
    assert listed.start_event.execution == started.execution


async def test_list_finds_own_executions_among_those_of_others(
    executions, twice, worker, owner, monkeypatch
):
    monkeypatch.setattr(pages, "PAGE_SIZE", 1)
    monkeypatch.setattr(pages, "MAX_SCANNED", 2)
    first, second = [await executions.start(twice, {"a": 1, "one.b": 2}) for _ in range(2)]
    others = Executions(owner, executions.deployment)
    foreign = [await others.start(twice, {"a": 1, "one.b": 2}) for _ in range(3)]
    newest = await executions.list(limit=1)
    assert [item.start_event.execution for item in newest.items] == [second.execution]
    older = await executions.list(limit=1, before=newest.next)
    assert [item.start_event.execution for item in older.items] == [first.execution]
    assert (await others.list(limit=1)).items[0].start_event.execution == foreign[-1].execution


async def test_list_omits_ended_and_deleted_executions_on_request(executions, twice, worker):
    deleted, ended, running = [
        (await executions.start(twice, {"a": 1, "one.b": 2})).execution for _ in range(3)
    ]
    for execution in (deleted, ended):
        await worker.carry(twice, execution, adds({"one": 3, "two": 10}))
    await executions.clean(deleted)

    async def listed(**options):
        page = await executions.list(**options)
        return [item.start_event.execution for item in page.items]

    assert await listed() == [running, ended, deleted]
    assert await listed(deleted=False) == [running, ended]
    assert await listed(running=True) == [running]


async def test_clean_works_after_cancel_once_runs_expired(executions, twice, worker, chain):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await executions.cancel(started.execution)
    assert (await executions.get(started.execution)).ended_at_ms is None
    with pytest.raises(WrongStateError):
        await executions.clean(started.execution)
    chain.net.advance_clock(60_000)
    await executions.clean(started.execution)
    assert await executions.find(started.execution) is None


async def test_only_owner_cancels_and_anyone_refills(executions, twice, worker, owner):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    others = Executions(owner, executions.deployment)
    with pytest.raises(NotAllowedError):
        await others.cancel(started.execution)
    before = (await executions.get(started.execution)).funds
    await others.refill(started.execution, SUI)
    assert (await executions.get(started.execution)).funds == before + SUI


async def test_begin_rejects_invalid_arguments_before_payment(executions, twice, worker, user):
    before = await user.balance(user.address)
    with pytest.raises(ValidationError) as refused:
        await executions.start(twice, {"a": "one", "one.b": 2})
    assert refused.value.code == "input_invalid"
    assert refused.value.message.startswith("the input a is invalid: ")
    with pytest.raises(WrongStateError) as refused:
        await executions.start(twice, {"a": 1, "one.b": 2}, funds_mist=1_000)
    assert refused.value.code == "funds_too_small"
    assert await user.balance(user.address) == before


# --- Waits


async def waits_of(executions, execution):
    return await executions.wait_reasons(await executions.state(execution))


async def test_pending_run_waits_for_its_leader(executions, twice, worker, chain):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    chain.net.advance_clock(3_000)
    [wait] = await waits_of(executions, started.execution)
    assert (wait.reason, wait.run) == (WaitReason.OUTCOME, Run("one"))
    assert wait.leaders == (worker.leader,)
    assert re.match(r"one was requested \d+ s ago, but the leader 0x", wait.message)


async def test_wait_for_funds_has_amount_and_refill_command(executions, twice, worker):
    cost = await executions.estimate_cost(twice)
    started = await executions.start(twice, {"a": 1, "one.b": 2}, funds_mist=cost.start_mist)
    await worker.carry(twice, started.execution, adds({"one": 3}))
    [wait] = await waits_of(executions, started.execution)
    state = await executions.state(started.execution)
    assert wait.reason is WaitReason.FUNDS
    assert wait.funds_mist == state.execution.funds < wait.needed_mist
    command, amount = wait.message.rstrip("`").rsplit(" ", 1)
    assert command.endswith(f"nexus-tools workflow refill {started.execution}")
    await executions.refill(started.execution, parse_sui(amount))
    [wait] = await waits_of(executions, started.execution)
    assert (wait.reason, wait.run) == (WaitReason.LEADER, Run("two"))
    assert "two is ready, but the leader" in wait.message


async def test_expired_run_waits_for_a_leader_to_advance(executions, twice, chain, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    chain.net.advance_clock(60_000)
    waits = await waits_of(executions, started.execution)
    assert [(wait.reason, wait.run) for wait in waits] == [(WaitReason.LEADER, Run("one"))]
    sentence = waits[0].message
    assert sentence.startswith("the invocation of one expired at ")
    assert f"`nexus-tools workflow cancel {started.execution}` to end the execution" in sentence


async def test_overdue_execution_waits_for_someone_to_end_it(executions, twice, chain, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2}, duration_ms=1_000)
    chain.net.advance_clock(2_000)
    over, under_way = await waits_of(executions, started.execution)
    assert f"`nexus-tools workflow cancel {started.execution} --expired`" in over.message
    assert under_way.reason is WaitReason.OUTCOME
    await executions.expire(started.execution)
    closing, under_way = await waits_of(executions, started.execution)
    assert closing.reason is WaitReason.CLOSING
    assert closing.message.startswith("timed out")


async def test_failed_run_waits_for_its_retry(executions, publish, worker):
    twice = {"one": {"attempts": 2, "retry_after_ms": 60_000}}
    again = await publish("> one.a", "> one.b", vertices=twice, dialect=DIALECT)
    started = await executions.start(again, {"a": 1, "b": 2})
    await worker.carry(again, started.execution, lambda _: Failure(FailureReason.UNREACHABLE, ""))
    [wait] = await waits_of(executions, started.execution)
    assert (wait.reason, wait.run) == (WaitReason.TIME, Run("one"))


async def test_ended_execution_has_no_waits(executions, twice, worker):
    started = await executions.start(twice, {"a": 1, "one.b": 2})
    await worker.carry(twice, started.execution, adds({"one": 3, "two": 10}))
    assert await waits_of(executions, started.execution) == ()


async def test_pending_attempts_are_those_of_running_executions(
    executions, twice, worker, user, owner, chain
):
    invocations = Invocations(user, chain.deployment)
    started = [await executions.start(twice, {"a": 1, "one.b": 2}) for _ in range(2)]
    [(run, first)] = await worker.open(started[0].execution)
    await worker.close(twice, started[0].execution, run, first, Answer("ok", {"result": 3}))
    # The worker has requested the second run, and the user has requested the other first run.
    expected = [await worker.open(execution.execution) for execution in started]
    attempts = [invocation.id for [(_, invocation)] in expected]
    pending = await invocations.pending_attempts()
    assert [found.id for found in pending] == attempts
    assert await invocations.pending_attempts(owner.address) == ()
    assert (await invocations.owned_by()).items == ()
    await executions.cancel(started[0].execution)
    assert [found.id for found in await invocations.pending_attempts()] == attempts
