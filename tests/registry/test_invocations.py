import asyncio

import pytest

from benchmarks.gateway import Gateway
from nexus_tools.client import SuiClient
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError
from nexus_tools.package import make_ports, ports_of
from nexus_tools.package import move as calls
from nexus_tools.package.move.invocation import State
from nexus_tools.package.move.value import Ports, Value
from nexus_tools.registry import (
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    add_request,
    outcome_bytes,
    quote_mist,
)
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
INPUTS = {"a": 1, "b": 2}
ANSWER = Answer("ok", {"result": 3})
PRICE = 700_000
# The settings that the package begins with.
SETTLE_FEE, FAIL_FEE, INPUT_BYTE, OUTCOME_BYTE = 4_000_000, 2_000_000, 100, 8_000
WINDOW = 5_000 + 15_000


@pytest.fixture
async def tool(owner, chain, define):
    registry = ToolRegistry(owner, chain.deployment)
    await registry.register(Registration(define(), PRICE))
    return await registry.get(ADD)


@pytest.fixture
async def cap(leader, chain):
    registry = LeaderRegistry(leader, chain.deployment)
    _, cap = await registry.register("first", activate=True)
    return cap


@pytest.fixture
def invocations(user, chain):
    return Invocations(user, chain.deployment)


@pytest.fixture
def closing(leader, chain):
    return Invocations(leader, chain.deployment)


@pytest.fixture
async def requested(invocations, tool, cap):
    _, invocation = await invocations.request(tool, INPUTS, max_outcome_bytes=100)
    assert (await invocations.get(invocation)).leaders == (cap,)
    return invocation


async def test_an_invocation_costs_what_the_quote_says_in_python_and_move(
    invocations, tool, cap, user, chain
):
    size = ports_of(INPUTS).size()
    expected = PRICE + SETTLE_FEE + INPUT_BYTE * size + OUTCOME_BYTE * 100
    assert await invocations.quote(tool, INPUTS, 100) == expected
    builder = TransactionBuilder()
    package, leaders = chain.deployment.package, chain.deployment.leader_registry
    ports = make_ports(builder, package, ports_of(INPUTS))
    bytes_in = calls.value.size(builder, package, ports)
    calls.invocation.quote(builder, package, leaders, tool.id, bytes_in, 100)
    results = (await user.inspect(builder)).results
    assert int.from_bytes(results[-1][0], "little") == expected
    before = await user.balance(user.address)
    sent, invocation = await invocations.request(tool, INPUTS, max_outcome_bytes=100)
    assert before - await user.balance(user.address) == expected + sent.cost.net
    assert (await invocations.get(invocation)).refund_mist == expected
    assert (await invocations.get(invocation)).leaders == (cap,)


async def test_a_requested_invocation_has_the_terms_of_its_tool(
    invocations, requested, tool, cap, user
):
    found = await invocations.get(requested)
    assert (found.tool, found.fqn, found.requester) == (tool.id, str(ADD), user.address)
    assert found.inputs.as_json() == INPUTS
    assert found.state == State.Requested()
    assert (found.leaders, found.timeout_ms, found.window_ms) == ((cap,), 5_000, WINDOW)
    assert found.expires_at_ms == found.requested_at_ms + WINDOW


async def test_an_answer_pays_the_tool_and_the_leader(invocations, closing, requested, cap, owner):
    leader = closing.client
    paid_before = await owner.balance(owner.address)
    led_before = await leader.balance(leader.address)
    sent = await closing.close(cap, {requested: ANSWER})
    state = (await invocations.get(requested)).state
    assert isinstance(state, State.Settled)
    assert (state.variant, state.ports.as_json(), state.leader) == ("ok", {"result": 3}, cap)
    fee = SETTLE_FEE + INPUT_BYTE * ports_of(INPUTS).size() + OUTCOME_BYTE * outcome_bytes(ANSWER)
    assert await owner.balance(owner.address) == paid_before + PRICE
    assert await leader.balance(leader.address) == led_before + fee - sent.cost.net


async def test_the_refund_comes_back_to_the_requester(invocations, closing, requested, cap, user):
    await closing.close(cap, {requested: ANSWER})
    refund = OUTCOME_BYTE * (100 - outcome_bytes(ANSWER))
    assert (await invocations.get(requested)).refund_mist == refund
    before = await user.balance(user.address)
    sent = await invocations.delete(requested)
    assert await user.balance(user.address) == before + refund - sent.cost.net
    with pytest.raises(NotFoundError) as gone:
        await invocations.get(requested)
    assert gone.value.code == "invocation_unknown"


async def test_settling_earns_a_leader_more_than_it_costs(closing, requested, cap, leader):
    before = await leader.balance(leader.address)
    await closing.close(cap, {requested: ANSWER})
    assert await leader.balance(leader.address) > before


async def test_a_failure_pays_the_leader_and_not_the_tool(
    invocations, closing, requested, cap, owner
):
    before = await owner.balance(owner.address)
    failure = Failure(FailureReason.TIMED_OUT, "after 5 s")
    await closing.close(cap, {requested: failure})
    found = await invocations.get(requested)
    assert isinstance(found.state, State.Failed)
    assert (found.state.reason, found.state.detail) == ("timed_out", "after 5 s")
    assert await owner.balance(owner.address) == before


@pytest.mark.parametrize(
    "reason", [each for each in FailureReason if each is not FailureReason.EXPIRED]
)
async def test_every_reason_that_a_leader_may_give_is_known_on_chain(
    invocations, closing, requested, cap, reason
):
    await closing.close(cap, {requested: Failure(reason, "")})
    assert (await invocations.get(requested)).state.reason == reason.value


async def test_several_outcomes_go_into_one_transaction(invocations, closing, tool, cap):
    ids = [(await invocations.request(tool, {"a": n, "b": 0}))[1] for n in range(3)]
    outcomes = {
        ids[0]: ANSWER,
        ids[1]: Failure(FailureReason.UNREACHABLE, "refused"),
        ids[2]: Answer("ok", {"result": -1}),
    }
    sent = await closing.close(cap, outcomes)
    states = [(await invocations.get(each)).state for each in ids]
    assert [type(state) for state in states] == [State.Settled, State.Failed, State.Settled]
    assert len(sent.events) == 3
    await invocations.delete(*ids)


async def test_values_beyond_one_pure_argument_are_joined_from_chunks(
    invocations, closing, tool, cap
):
    text = "x" * 40_000
    _, invocation = await invocations.request(tool, {"a": text}, max_outcome_bytes=65_000)
    assert (await invocations.get(invocation)).inputs.as_json() == {"a": text}
    detail = "ä" * 20_000
    await closing.close(cap, {invocation: Failure(FailureReason.HTTP_ERROR, detail)})
    assert (await invocations.get(invocation)).state.detail == detail


async def test_every_kind_of_value_is_kept_on_chain_as_it_was_given(invocations, tool, cap, chain):
    inputs = Ports(
        (
            ("inline", Value.Inline(b'{"deep":[1]}')),
            ("list", Value.InlineList((b"1", b'"x"'))),
            ("remote", Value.Remote("walrus", bytes(range(32)))),
            ("remotes", Value.RemoteList("walrus", (bytes(32), b"\x01"))),
        )
    )
    settings = await LeaderRegistry(invocations.client, chain.deployment).settings()
    builder = TransactionBuilder()
    cost = quote_mist(settings, tool, inputs.size(), 0)
    add_request(builder, chain.deployment, tool, inputs, max_outcome_bytes=0, payment_mist=cost)
    sent = await invocations.send(builder)
    [invocation] = sent.created_of("invocation", "Invocation")
    found = await invocations.get(invocation)
    assert (found.inputs, found.leaders) == (inputs, (cap,))


async def test_an_invocation_that_nobody_closes_expires(invocations, requested, chain):
    with pytest.raises(NotNowError) as caught:
        await invocations.expire(requested)
    assert caught.value.code == "not_expired"
    assert "it expires at" in caught.value.message
    chain.net.advance_clock(WINDOW)
    await invocations.expire(requested)
    assert (await invocations.get(requested)).state == State.Expired()


async def test_waiting_ends_when_the_invocation_is_closed(
    invocations, closing, requested, tool, cap
):
    _, other = await invocations.request(tool, INPUTS)
    waiting = asyncio.create_task(invocations.closed(requested))
    await closing.close(cap, {other: ANSWER})
    await closing.close(cap, {requested: ANSWER})
    assert (await waiting).state.variant == "ok"


async def test_waiting_for_a_closed_invocation_ends_at_once(invocations, closing, requested, cap):
    await closing.close(cap, {requested: ANSWER})
    assert (await invocations.closed(requested)).is_closed


@pytest.mark.usefixtures("cap")
async def test_a_tool_that_is_not_active_takes_no_invocation(invocations, tool, owner, chain):
    registry = ToolRegistry(owner, chain.deployment)
    await registry.unregister(ADD)
    with pytest.raises(NotNowError, match="cancel the unregistration") as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "tool_not_active"
    with pytest.raises(NotNowError) as refused:
        await invocations.request(tool, INPUTS)  # the tool as it was before
    assert refused.value.code == "tool_not_active"
    assert refused.value.details["module"] == "invocation"


async def test_without_a_leader_nothing_is_requested(invocations, tool):
    with pytest.raises(NotNowError) as caught:
        await invocations.request(tool, INPUTS)
    assert caught.value.code == "no_leader"


@pytest.mark.usefixtures("cap")
async def test_an_invocation_is_not_paid_beyond_the_limit_that_was_set(invocations, tool):
    with pytest.raises(NotNowError) as caught:
        await invocations.request(tool, INPUTS, max_cost_mist=1_000)
    assert caught.value.code == "too_expensive"


@pytest.mark.usefixtures("cap")
async def test_a_price_that_was_raised_meanwhile_is_not_paid(invocations, tool, owner, chain):
    await ToolRegistry(owner, chain.deployment).update(ADD, price_mist=PRICE + 1)
    with pytest.raises(NotNowError) as caught:
        await invocations.request(tool, INPUTS)
    assert caught.value.code == "wrong_payment"


async def test_only_the_requester_deletes(closing, requested, cap):
    await closing.close(cap, {requested: ANSWER})
    with pytest.raises(NotAllowedError) as caught:
        await closing.delete(requested)
    assert caught.value.code == "not_requester"


async def test_the_views_of_an_invocation_are_what_python_decodes(
    invocations, closing, requested, cap, chain
):
    user = invocations.client
    await closing.close(cap, {requested: ANSWER})
    found = await invocations.get(requested)
    builder = TransactionBuilder()
    views = ("expires_at_ms", "is_closed", "tool", "requester", "leaders", "refund_mist", "variant")
    for view in views:
        getattr(calls.invocation, view)(builder, chain.deployment.package, requested)
    assert [values[0] for values in (await user.inspect(builder)).results] == [
        found.expires_at_ms.to_bytes(8, "little"),
        b"\x01",
        found.tool,
        user.address,
        b"\x01" + cap,
        found.refund_mist.to_bytes(8, "little"),
        b"\x02ok",
    ]


def test_the_bytes_of_an_outcome_are_counted_as_the_chain_does():
    # "ok" has 2; the ports: a count, a name of 1 + 6, a variant, a text of 1 + 1.
    assert outcome_bytes(ANSWER) == 2 + 1 + 7 + 1 + 2
    assert outcome_bytes(Failure(FailureReason.TIMED_OUT, "ä")) == 2


@pytest.mark.usefixtures("invocations")
async def test_the_quote_is_a_sum_of_the_settings(tool, chain, user):
    settings = await LeaderRegistry(user, chain.deployment).settings()
    assert quote_mist(settings, tool, 0, 0) == PRICE + SETTLE_FEE
    assert settings.fail_fee_mist == FAIL_FEE


async def test_who_waits_for_an_invocation_is_told_of_it_after_its_chain_was_set_back(
    chain, requested, cap
):
    snapshot = chain.net.snapshot()
    async with (
        asyncio.timeout(30),
        Gateway(chain.net.url).running() as gateway,
        SuiClient(gateway.network) as client,
    ):
        waiting = asyncio.create_task(Invocations(client, chain.deployment).closed(requested))
        await gateway.asked("GetObject", 1)  # it follows the events since before that
        async with chain.client("owner") as owner:
            for _ in range(5):
                await owner.execute(TransactionBuilder())
        await gateway.asked("GetCheckpoint", 1)  # it has seen some of that
        chain.net.revert(snapshot)
        async with chain.client("leader") as leader:
            await Invocations(leader, chain.deployment).close(cap, {requested: ANSWER})
        assert (await waiting).is_closed
