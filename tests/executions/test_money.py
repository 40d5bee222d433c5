"""No funds of an execution are lost or locked, however it ends."""

import pytest

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings import invocation as closing
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.errors import NexusError
from nexus_tools.registry import Executions
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.workflow import find_structure
from tests.workflow.random_documents import grown, outcome_of

DAY_MS = 24 * 3_600_000


@pytest.fixture
def refused():
    """Return a function that sends a transaction and expects this reason of refusal."""

    async def refused(package, code, function, *arguments):
        with pytest.raises(NexusError) as caught:
            await package.call(function, *arguments)
        assert caught.value.code == code

    return refused


async def begun(carrier, seed=3):
    document = grown(seed)
    assert not find_structure(document).problems
    return await carrier.begin(await carrier.publish(document)), outcome_of(document, seed)


@pytest.mark.parametrize("seed", [3, 7, 11])
async def test_owner_and_worker_lose_only_gas_after_cleanup(carrier, user, leader, seed):
    document = grown(seed)
    workflow = await carrier.publish(document)
    before = await user.balance(user.address) + await leader.balance(leader.address)
    execution = await carrier.begin(workflow)
    await execution.carry(outcome_of(document, seed), seed, disturbed=True)
    await Executions(user, carrier.deployment).clean(execution.id)
    assert await user.object(execution.id) is None
    assert await user.objects(execution.all_invocations) == (None,) * len(execution.all_invocations)
    left = await user.balance(user.address) + await leader.balance(leader.address)
    # 99 % of the storage cost is refunded, and a step costs about a million MIST of gas.
    assert 0 < before - left < 2_500_000 * (len(execution.all_invocations) * 3 + 20)


async def test_cleanup_fails_before_the_end_and_by_others_for_seven_days(
    carrier, user, leader, refused
):
    execution, outcome = await begun(carrier)
    with pytest.raises(NexusError) as caught:
        await Executions(user, carrier.deployment).clean(execution.id)
    assert caught.value.code == "execution_not_ended"
    await execution.carry(outcome)
    ended_at_ms = (await Executions(user, carrier.deployment).get(execution.id)).ended_at_ms
    with pytest.raises(NexusError) as caught:
        await Executions(leader, carrier.deployment).clean(execution.id)
    assert caught.value.code == "too_early"
    assert caught.value.details["possible_at_ms"] == ended_at_ms + 7 * DAY_MS
    carrier.net.advance_clock(7 * DAY_MS)
    await Executions(leader, carrier.deployment).clean(execution.id)
    assert await user.object(execution.id) is None


async def test_advance_does_not_pay_twice_for_an_invocation(carrier, leader):
    execution, _ = await begun(carrier)
    [run, *_] = execution.semantics.ready()
    [run] = await execution.request(run)
    invocation = execution.invocations[run]
    await execution.close(run, "dead", {"p": "x" * 1_000})
    execution.weighs = True
    builder = TransactionBuilder()
    calls.advance(builder, carrier.package, execution.id, execution.workflow.id, invocation)
    await execution._sent(builder, "advance")
    [paid] = execution.paid
    assert paid.paid_mist == 0


async def test_advance_rejects_an_invocation_of_another_execution(carrier, refused):
    one, _ = await begun(carrier)
    other = await carrier.begin(one.workflow)
    [run, *_] = one.semantics.ready()
    [run] = await one.request(run)
    await refused(
        carrier.worker,
        "wrong_execution",
        calls.advance,
        other.id,
        one.workflow.id,
        one.invocations[run],
    )


async def test_another_account_cannot_request_or_cancel(carrier, owner, refused):
    execution, _ = await begun(carrier)
    stranger = PackageClient(owner, carrier.deployment)
    [run, *_] = execution.semantics.ready()
    tool = execution._tool(run)
    number = execution.numbers[run.vertex]
    terms = execution.id, execution.workflow.id, tool, carrier.leader, number, run.path
    await refused(stranger, "not_worker", calls.request, *terms)
    await refused(stranger, "not_owner", calls.cancel, execution.id)


async def test_owner_cannot_delete_a_needed_invocation(carrier, user, refused):
    execution, _ = await begun(carrier)
    [run, *_] = execution.semantics.ready()
    [run] = await execution.request(run)
    await refused(carrier.owner, "is_attempt", closing.delete, execution.invocations[run])


async def test_insufficient_funds_request_nothing_and_cost_no_one(carrier):
    document = grown(3)
    execution = await carrier.begin(await carrier.publish(document), funds_mist=1_000)
    [run, *_] = execution.semantics.ready()
    execution.weighs = True
    assert await execution.request(run) == []
    [paid] = execution.paid
    assert (paid.paid_mist, paid.stored_mist) == (0, 0)
