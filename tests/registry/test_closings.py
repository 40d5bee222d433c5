"""Closings of invocations: permissions, payments and refunds, and concurrent closings."""

from hashlib import blake2b

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts import parse_event, ports_of
from nexus_tools.contracts.move_bindings.invocation import InvocationFailed, InvocationSettled
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import NexusError, NotAllowedError, ValidationError, WrongStateError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
INPUTS = {"a": 1, "b": 2}
ANSWER = Answer("ok", {"result": 3})
ANSWER_BYTES = 13  # as counted in test_invocations
PRICE = 500  # of `priced_tool`
FAIL_FEE = 1_000 * 1_000 + 520_000
SETTLE_FEE, INPUT_BYTE, OUTCOME_BYTE = FAIL_FEE + 2_000_000, 100, 7_600
WINDOW = 5_000 + 15_000
DAY = 86_400_000
SUI = 1_000_000_000


@pytest.fixture
async def requested(invocations, priced_tool):
    return (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=100))[1]


# --- Payments


async def test_settle_pays_tool_and_worker_and_refunds_rest(
    invocations, closing, requested, active_leader, owner, leader, user
):
    people = owner, leader, user
    prepaid = (await invocations.get(requested)).payment_mist
    before = [await client.balance(client.address) for client in people]
    sent = await closing.close(active_leader, {requested: ANSWER})
    after = [await client.balance(client.address) for client in people]
    fee = SETTLE_FEE + INPUT_BYTE * ports_of(INPUTS).size() + OUTCOME_BYTE * ANSWER_BYTES
    refund = OUTCOME_BYTE * (100 - ANSWER_BYTES)
    assert prepaid == PRICE + fee + refund
    assert [new - old for old, new in zip(before, after, strict=True)] == [
        PRICE,
        fee - sent.cost.net,
        refund,
    ]
    invocation = await invocations.get(requested)
    assert isinstance(invocation.state, State.Settled)
    assert (invocation.state.variant, invocation.state.ports.as_json()) == ("ok", {"result": 3})
    assert (invocation.state.leader, invocation.payment_mist) == (active_leader, 0)
    event = closing.emitted(sent, InvocationSettled)
    assert (event.price_mist, event.fee_mist, event.refund_mist) == (PRICE, fee, refund)


async def test_fail_pays_only_the_worker(
    invocations, closing, requested, active_leader, owner, leader, user
):
    people = owner, leader, user
    prepaid = (await invocations.get(requested)).payment_mist
    before = [await client.balance(client.address) for client in people]
    failure = Failure(FailureReason.TIMED_OUT, "after 5 s")
    sent = await closing.close(active_leader, {requested: failure})
    after = [await client.balance(client.address) for client in people]
    fee = FAIL_FEE + INPUT_BYTE * ports_of(INPUTS).size()
    assert [new - old for old, new in zip(before, after, strict=True)] == [
        0,
        fee - sent.cost.net,
        prepaid - fee,
    ]
    assert (await invocations.get(requested)).payment_mist == 0


async def test_payments_go_to_address_balances_without_coins(closing, requested, active_leader):
    sent = await closing.close(active_leader, {requested: ANSWER})
    assert sent.created_of("coin", "Coin") == ()


async def test_settling_earns_worker_more_than_gas_and_failing(
    invocations, closing, priced_tool, active_leader, leader
):
    async def earned(outcome):
        _, place = await invocations.request(priced_tool, INPUTS)
        before = await leader.balance(leader.address)
        await closing.close(active_leader, {place: outcome})
        return await leader.balance(leader.address) - before

    await earned(ANSWER)  # the first payment creates an address balance, which costs storage
    settled, failed = await earned(ANSWER), await earned(Failure(FailureReason.TIMED_OUT, ""))
    assert settled > failed
    assert settled > 0


# --- Outcomes


async def test_outcome_reads_failure_detail_from_event(
    invocations, closing, requested, active_leader
):
    failure = Failure(FailureReason.HTTP_ERROR, "ä" * 100)  # 200 bytes, the limit
    sent = await closing.close(active_leader, {requested: failure})
    assert await invocations.outcome(requested) == failure
    assert closing.emitted(sent, InvocationFailed).detail == failure.detail


async def test_fail_rejects_detail_beyond_limit(closing, requested, active_leader):
    failure = Failure(FailureReason.HTTP_ERROR, "x" * 201)
    with pytest.raises(ValidationError) as caught:
        await closing.close(active_leader, {requested: failure})
    assert caught.value.code == "detail_too_long"


@pytest.mark.parametrize(
    "reason", [reason for reason in FailureReason if reason is not FailureReason.EXPIRED]
)
async def test_chain_accepts_every_failure_reason(
    invocations, closing, requested, active_leader, reason
):
    await closing.close(active_leader, {requested: Failure(reason, "")})
    assert (await invocations.get(requested)).state.reason == reason.value


async def test_close_sends_several_outcomes_in_one_transaction(
    invocations, closing, priced_tool, active_leader
):
    ids = [(await invocations.request(priced_tool, {"a": n, "b": 0}))[1] for n in range(3)]
    outcomes = {
        ids[0]: ANSWER,
        ids[1]: Failure(FailureReason.UNREACHABLE, "refused"),
        ids[2]: Answer("ok", {"result": -1}),
    }
    sent = await closing.close(active_leader, outcomes)
    assert len(sent.events) == 3
    assert {
        invocation_id: await invocations.outcome(invocation_id) for invocation_id in ids
    } == outcomes
    await invocations.delete(*ids)
    assert (await invocations.owned_by()).items == ()


# --- Concurrent closings


async def test_close_skips_closed_invocation_at_no_cost_to_others(
    invocations, closing, requested, priced_tool, active_leader
):
    await closing.close(active_leader, {requested: ANSWER})
    _, other = await invocations.request(priced_tool, INPUTS)
    failure = Failure(FailureReason.UNREACHABLE, "")
    sent = await closing.close(active_leader, {requested: failure, other: failure})
    events = [parse_event(closing.deployment, event) for event in sent.events]
    assert [event.invocation for event in events] == [other]
    assert await invocations.outcome(requested) == ANSWER


async def test_close_skips_invocation_after_last_window(
    invocations, closing, requested, active_leader, chain
):
    chain.net.advance_clock(WINDOW)
    sent = await closing.close(active_leader, {requested: ANSWER})
    assert sent.events == ()
    assert not (await invocations.get(requested)).is_closed


async def test_close_fails_if_one_invocation_is_deleted(
    invocations, closing, requested, priced_tool, active_leader
):
    _, other = await invocations.request(priced_tool, INPUTS)
    await closing.close(active_leader, {requested: ANSWER})
    await invocations.delete(requested)
    with pytest.raises(NexusError) as caught:
        await closing.close(active_leader, {requested: ANSWER, other: ANSWER})
    assert caught.value.code == "refused_by_node"
    assert str(requested) in caught.value.message
    assert not (await invocations.get(other)).is_closed


# --- Permissions


async def test_second_leader_closes_after_window_of_first(
    registry, invocations, added, leaders, active_leader, closing, chain
):
    _, second = await leaders.register("second", activate=True)
    leader_ids = (active_leader, second)
    _, place = await invocations.request(await registry.get(ADD), INPUTS, leaders=leader_ids)
    with pytest.raises(WrongStateError) as caught:
        await closing.close(second, {place: ANSWER})
    assert caught.value.code == "too_early"
    chain.net.advance_clock(WINDOW)
    await closing.close(second, {place: ANSWER})
    assert (await invocations.get(place)).state.leader == second


async def test_any_worker_of_leader_closes_and_gets_fee(
    invocations, leaders, requested, active_leader, owner, chain
):
    await leaders.add_worker(active_leader, owner.address)
    before = await owner.balance(owner.address)
    working = Invocations(owner, chain.deployment)
    failure = Failure(FailureReason.REFUSED, "not at this hour")
    sent = await working.close(active_leader, {requested: failure})
    fee = FAIL_FEE + INPUT_BYTE * ports_of(INPUTS).size()
    assert await owner.balance(owner.address) == before + fee - sent.cost.net
    assert await invocations.outcome(requested) == failure


async def test_close_rejects_sender_that_is_not_a_worker(
    requested, leaders, active_leader, leader, closing
):
    await leaders.remove_worker(active_leader, leader.address)
    with pytest.raises(NotAllowedError) as caught:
        await closing.close(active_leader, {requested: ANSWER})
    assert caught.value.code == "not_worker"


async def test_close_rejects_leader_that_is_not_named(requested, user, chain):
    _, other = await LeaderRegistry(user, chain.deployment).register("other", activate=True)
    with pytest.raises(NotAllowedError) as caught:
        await Invocations(user, chain.deployment).close(other, {requested: ANSWER})
    assert caught.value.code == "not_responsible"


async def test_inactive_leader_closes_invocations_that_name_it(
    invocations, requested, leaders, active_leader, closing
):
    await leaders.unregister(active_leader)
    await closing.close(active_leader, {requested: ANSWER})
    assert await invocations.outcome(requested) == ANSWER


async def test_suspended_leader_closes_only_after_top_up(
    invocations, priced_tool, leaders, leader_admins, active_leader, closing, chain
):
    await leader_admins.propose_slash(active_leader, SUI, "it lies", bytes(32))
    chain.net.advance_clock(3 * DAY)
    _, place = await invocations.request(priced_tool, INPUTS)
    await leader_admins.execute_slash(active_leader)
    with pytest.raises(WrongStateError) as caught:
        await closing.close(active_leader, {place: ANSWER})
    assert caught.value.code == "leader_suspended"
    await leaders.top_up(active_leader)
    await closing.close(active_leader, {place: ANSWER})


# --- Signed answers


def digest(ports):
    return blake2b(Ports.bcs.encode(ports_of(ports)), digest_size=32).digest()


def signed_by(key, invocation, answer, *, signs=None, inputs=INPUTS):
    """Return the answer with the signature that `invocation::signed_outcome` needs."""
    variant = answer.variant.encode()
    message = b"nexus_tools::outcome" + invocation + digest(inputs)
    message += bytes([len(variant)]) + variant + digest((signs or answer).ports)
    signature = key.sign(message)
    public = key.public_key().public_bytes_raw()
    return Answer(answer.variant, answer.ports, OutcomeSignature(public, signature))


@pytest.fixture
def tool_key():
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.fixture
async def signing_tool(registry, define, active_leader, tool_key):
    """Register and return a tool whose answers are signed, with its key."""
    registration = Registration(
        define(),
        leaders=(active_leader,),
        keys=(tool_key.public_key().public_bytes_raw(),),
        requires_signed_outcome=True,
    )
    await registry.register(registration)
    return await registry.get(ADD)


async def test_close_settles_signed_answer(
    invocations, closing, signing_tool, active_leader, tool_key
):
    assert signing_tool.requires_signed_outcome
    _, place = await invocations.request(signing_tool, INPUTS)
    answer = signed_by(tool_key, place, ANSWER)
    await closing.close(active_leader, {place: answer})
    assert await invocations.outcome(place) == ANSWER


async def test_signed_message_equals_that_of_the_chain(
    invocations, signing_tool, tool_key, user, chain
):
    _, place = await invocations.request(signing_tool, INPUTS)
    builder = TransactionBuilder()
    package = chain.deployment.package
    ports = calls.value.ports(
        builder, package, ["result"], [calls.value.inline(builder, package, b"3")]
    )
    calls.signed_outcome.message(builder, package, place, "ok", ports)
    (message,) = (await user.inspect(builder)).results[-1]
    # Its length before it: 20 bytes of words, 32 of the id, "ok" with its length, two digests.
    assert message[0] == len(message) - 1 == 20 + 32 + 32 + 3 + 32
    signature = signed_by(tool_key, place, ANSWER).signature
    tool_key.public_key().verify(signature.signature, message[1:])


async def test_close_rejects_unsigned_answer_of_signing_tool(
    invocations, closing, signing_tool, active_leader
):
    _, place = await invocations.request(signing_tool, INPUTS)
    with pytest.raises(ValidationError) as caught:
        await closing.close(active_leader, {place: ANSWER})
    assert caught.value.code == "signature_or_call_required"
    await closing.close(active_leader, {place: Failure(FailureReason.OUTPUT_INVALID, "")})


@pytest.mark.parametrize("wrong", ["answer", "invocation", "inputs"])
async def test_close_rejects_answer_that_tool_did_not_sign(
    invocations, closing, signing_tool, active_leader, tool_key, wrong
):
    _, place = await invocations.request(signing_tool, INPUTS)
    over = Address.of(0xDEAD) if wrong == "invocation" else place
    signs = Answer("ok", {"result": 4}) if wrong == "answer" else ANSWER
    inputs = {"a": 1, "b": 3} if wrong == "inputs" else INPUTS
    answer = signed_by(tool_key, over, ANSWER, signs=signs, inputs=inputs)
    with pytest.raises(ValidationError) as caught:
        await closing.close(active_leader, {place: answer})
    assert caught.value.code == "invalid_signature"


async def test_signature_is_checked_against_keys_at_request(
    invocations, registry, closing, signing_tool, active_leader, tool_key
):
    _, before = await invocations.request(signing_tool, INPUTS)
    next_key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    await registry.add_key(ADD, next_key.public_key().public_bytes_raw())
    await registry.remove_key(ADD, tool_key.public_key().public_bytes_raw())
    _, after = await invocations.request(signing_tool, INPUTS)
    for place, former, latter in ((before, next_key, tool_key), (after, tool_key, next_key)):
        with pytest.raises(ValidationError) as caught:
            await closing.close(active_leader, {place: signed_by(former, place, ANSWER)})
        assert caught.value.code == "wrong_key"
        await closing.close(active_leader, {place: signed_by(latter, place, ANSWER)})


async def test_close_ignores_signature_that_is_not_required(
    invocations, registry, closing, priced_tool, active_leader, tool_key
):
    await registry.add_key(ADD, tool_key.public_key().public_bytes_raw())
    _, place = await invocations.request(priced_tool, INPUTS)
    with pytest.raises(ValidationError) as caught:
        await closing.close(active_leader, {place: signed_by(tool_key, place, ANSWER)})
    assert caught.value.code == "wrong_key"
    await closing.close(active_leader, {place: ANSWER})
