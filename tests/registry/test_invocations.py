"""Requesting invocations, waiting for them, and deleting them."""

import asyncio

import pytest
from msgspec.structs import replace

from benchmarks.gateway import Gateway
from nexus_tools.contracts import make_ports, ports_of
from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    NotNowError,
    UsageError,
    ValidationError,
)
from nexus_tools.registry import (
    DEFAULT_OUTCOME_BYTES,
    Invocations,
    LeaderRegistry,
    add_request,
    quote_mist,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, FailureReason, ToolFqn, outcome_bytes

ADD = ToolFqn.parse("xyz.example.math.add@1")
KEY = bytes(range(32))
INPUTS = {"a": 1, "b": 2}
ANSWER = Answer("ok", {"result": 3})
PRICE = 500  # of `priced_tool`
# The settings that the package begins with, at the localnet's reference gas price of 1 000 MIST.
SETTLE_FEE, INPUT_BYTE, OUTCOME_BYTE = 1_000 * 1_000 + 520_000 + 2_000_000, 100, 7_600
WINDOW = 5_000 + 15_000
DAY = 86_400_000
SUI = 1_000_000_000


@pytest.fixture
async def requested(invocations, priced_tool):
    return (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=100))[1]


@pytest.fixture
async def second_leader(user, chain):
    """The id of another active leader, which `user` owns and works for."""
    leaders = LeaderRegistry(user, chain.deployment)
    return (await leaders.register("second", activate=True))[1]


# --- What it costs


async def test_an_invocation_costs_what_the_quote_says_in_python_and_move(
    invocations, priced_tool, user, chain
):
    size = ports_of(INPUTS).size()
    expected = PRICE + SETTLE_FEE + INPUT_BYTE * size + OUTCOME_BYTE * 100
    assert await invocations.quote(priced_tool, INPUTS, 100) == expected
    builder = TransactionBuilder()
    package, leaders = chain.deployment.package, chain.deployment.leader_registry
    ports = make_ports(builder, package, ports_of(INPUTS))
    bytes_in = calls.value.size(builder, package, ports)
    calls.invocation.quote(builder, package, leaders, priced_tool.id, bytes_in, 100)
    results = (await user.inspect(builder)).results
    assert int.from_bytes(results[-1][0], "little") == expected
    before = await user.balance(user.address)
    sent, invocation = await invocations.request(priced_tool, INPUTS, max_outcome_bytes=100)
    assert before - await user.balance(user.address) == expected + sent.cost.net
    assert (await invocations.get(invocation)).payment_mist == expected


async def test_the_quote_follows_the_price_of_gas(invocations, priced_tool):
    settings = await LeaderRegistry(invocations.client, invocations.deployment).settings()
    cheap, dear = (quote_mist(settings, priced_tool, 0, 0, price) for price in (500, 1_500))
    assert (cheap, dear) == (PRICE + 3_020_000, PRICE + 4_020_000)


async def test_an_invocation_is_not_paid_beyond_the_limit_that_was_set(invocations, priced_tool):
    cost_mist = await invocations.quote(priced_tool, INPUTS)
    with pytest.raises(NotNowError) as caught:
        await invocations.request(priced_tool, INPUTS, max_cost_mist=cost_mist - 1)
    assert caught.value.code == "too_expensive"
    await invocations.request(priced_tool, INPUTS, max_cost_mist=cost_mist)


# --- What is requested


async def test_a_requested_invocation_has_the_terms_of_its_tool(
    invocations, requested, priced_tool, active_leader, owner, user
):
    found = await invocations.get(requested)
    assert (found.tool, found.fqn, found.requester) == (priced_tool.id, str(ADD), user.address)
    assert found.inputs.as_json() == INPUTS
    assert found.state == State.Requested()
    assert (found.leaders, found.timeout_ms, found.window_ms) == ((active_leader,), 5_000, WINDOW)
    assert found.expires_at_ms == found.requested_at_ms + WINDOW
    assert (found.price_mist, found.payout) == (PRICE, owner.address)


async def test_two_leaders_have_a_window_each(
    invocations, added, registry, active_leader, second_leader
):
    named = (second_leader, active_leader)
    _, place = await invocations.request(await registry.get(ADD), INPUTS, leaders=named)
    found = await invocations.get(place)
    assert found.leaders == named
    assert found.expires_at_ms == found.requested_at_ms + 2 * WINDOW


async def test_values_beyond_one_pure_argument_are_joined_from_chunks(invocations, priced_tool):
    text = "x" * 40_000
    _, invocation = await invocations.request(priced_tool, {"a": text})
    assert (await invocations.get(invocation)).inputs.as_json() == {"a": text}


async def test_every_kind_of_value_is_kept_on_chain_as_it_was_given(
    invocations, priced_tool, active_leader, user, chain
):
    inputs = Ports(
        (
            ("inline", Value.Inline(b'{"deep":[1]}')),
            ("list", Value.InlineList(((b"1",), (b'"x"',)))),
            ("remote", Value.Remote("walrus", bytes(range(32)))),
            ("remotes", Value.RemoteList("walrus", (bytes(32), b"\x01"))),
        )
    )
    settings = await LeaderRegistry(user, chain.deployment).settings()
    builder = TransactionBuilder()
    cost_mist = quote_mist(settings, priced_tool, inputs.size(), 0, await user.gas_price())
    terms = {"max_outcome_bytes": 0, "payment_mist": cost_mist}
    named = (settings, priced_tool, [active_leader])
    add_request(builder, chain.deployment, *named, inputs=inputs, **terms)
    sent = await invocations.send(builder)
    [invocation] = sent.created_of("invocation", "Invocation")
    assert (await invocations.get(invocation)).inputs == inputs


@pytest.mark.parametrize("count", [0, 3])
async def test_an_invocation_names_one_leader_or_two(
    priced_tool, leaders, active_leader, chain, count
):
    settings = await leaders.settings()
    with pytest.raises(UsageError) as caught:
        add_request(
            TransactionBuilder(),
            chain.deployment,
            settings,
            priced_tool,
            [active_leader] * count,
            inputs=ports_of({}),
            max_outcome_bytes=0,
            payment_mist=1,
        )
    assert caught.value.code == "leaders_named"


async def test_without_a_word_there_is_as_much_room_for_the_outcome_as_the_tool_asks_for(
    invocations, registry, priced_tool
):
    _, small = await invocations.request(priced_tool, INPUTS)
    assert (await invocations.get(small)).max_outcome_bytes == DEFAULT_OUTCOME_BYTES
    await registry.update(ADD, min_outcome_bytes=DEFAULT_OUTCOME_BYTES + 1)
    _, large = await invocations.request(await registry.get(ADD), INPUTS)
    assert (await invocations.get(large)).max_outcome_bytes == DEFAULT_OUTCOME_BYTES + 1


# --- What is not requested


@pytest.mark.usefixtures("active_leader")
async def test_a_tool_that_is_not_active_takes_no_invocation(invocations, added, registry):
    before = await registry.get(ADD)
    await registry.unregister(ADD)
    with pytest.raises(NotNowError, match="cancel the unregistration") as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "tool_not_active"
    with pytest.raises(NotNowError) as refused:
        await invocations.request(before, INPUTS)
    assert refused.value.code == "tool_not_active"
    assert refused.value.details["module"] == "invocation"


@pytest.mark.parametrize(
    "change", [{"url": "https://elsewhere.example.com"}, {"price_mist": PRICE - 1}]
)
async def test_a_tool_that_was_changed_since_it_was_looked_at_is_not_called(
    invocations, registry, priced_tool, change
):
    await registry.update(ADD, **change)
    with pytest.raises(NotNowError) as caught:
        await invocations.request(priced_tool, INPUTS)
    assert caught.value.code == "tool_changed"


async def test_settings_that_were_changed_since_they_were_looked_at_bind_no_requester(
    invocations, priced_tool, leaders, leader_admins, active_leader
):
    seen = await leaders.settings()
    cost_mist = await invocations.quote(priced_tool, INPUTS, 100)
    # The sum stays, and more of it would be kept.
    dearer = replace(seen, settle_margin_mist=seen.settle_margin_mist + 100 * 1_000)
    changed = replace(dearer, fee_per_outcome_byte_mist=seen.fee_per_outcome_byte_mist - 1_000)
    await leader_admins.configure(changed)
    assert await invocations.quote(priced_tool, INPUTS, 100) == cost_mist
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 100, "payment_mist": cost_mist}
    named = (seen, priced_tool, [active_leader])
    add_request(builder, invocations.deployment, *named, inputs=ports_of(INPUTS), **terms)
    with pytest.raises(NotNowError) as caught:
        await invocations.send(builder)
    assert caught.value.code == "settings_changed"


async def test_a_payment_that_is_not_the_quote_is_refused(
    invocations, priced_tool, leaders, active_leader, chain
):
    named = (await leaders.settings(), priced_tool, [active_leader])
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 0, "payment_mist": PRICE + SETTLE_FEE + INPUT_BYTE}
    add_request(builder, chain.deployment, *named, inputs=ports_of({}), **terms)
    await invocations.rehearsal().send(builder)
    builder = TransactionBuilder()
    terms["payment_mist"] += 1
    add_request(builder, chain.deployment, *named, inputs=ports_of({}), **terms)
    with pytest.raises(NotNowError) as caught:
        await invocations.send(builder)
    assert caught.value.code == "wrong_payment"


async def test_the_outcome_has_at_least_the_room_that_the_tool_asks_for(
    invocations, registry, priced_tool
):
    await registry.update(ADD, min_outcome_bytes=200)
    tool = await registry.get(ADD)
    with pytest.raises(ValidationError) as caught:
        await invocations.request(tool, INPUTS, max_outcome_bytes=199)
    assert caught.value.code == "outcome_limit_too_small"
    await invocations.request(tool, INPUTS, max_outcome_bytes=200)


@pytest.mark.parametrize("limit", [0, 1])
async def test_a_limit_into_which_no_answer_fits_is_refused(
    invocations, registry, priced_tool, limit
):
    with pytest.raises(ValidationError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS, max_outcome_bytes=limit)
    assert caught.value.code == "outcome_limit_too_small"
    assert "takes 2" in caught.value.hint  # the letter, and the number of ports


async def test_a_tool_whose_answers_are_signed_is_not_called_without_a_key(
    invocations, registry, priced_tool
):
    await registry.add_key(ADD, KEY)
    await registry.update(ADD, requires_signed_outcome=True)
    await registry.remove_key(ADD, KEY)
    with pytest.raises(NotNowError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "tool_without_key"


async def test_a_registry_that_accepts_nothing_takes_no_invocation_and_lets_out_what_there_is(
    invocations, requested, priced_tool, leader_admins, closing, active_leader
):
    settings = await leader_admins.settings()
    await leader_admins.configure(replace(settings, accepting=False))
    with pytest.raises(NotNowError) as caught:
        await invocations.request(priced_tool, INPUTS)
    assert caught.value.code == "not_accepting"
    await closing.close(active_leader, {requested: ANSWER})
    await invocations.delete(requested)


# --- Whom it names


async def test_without_a_leader_nothing_is_requested(invocations, added, registry):
    with pytest.raises(NotNowError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "no_leader"


async def test_a_tool_that_lists_leaders_is_called_by_those_alone(
    invocations, priced_tool, active_leader, second_leader
):
    assert await invocations.leaders_for(priced_tool) == (active_leader,)
    assert await invocations.leaders_for(priced_tool, [second_leader, active_leader]) == (
        active_leader,
    )
    with pytest.raises(NotNowError) as caught:
        await invocations.leaders_for(priced_tool, [second_leader])
    assert caught.value.code == "no_leader"


async def test_a_tool_whose_last_leader_was_removed_is_called_by_nobody(
    invocations, priced_tool, registry, active_leader
):
    await registry.remove_leader(ADD, active_leader)
    with pytest.raises(NotNowError) as caught:
        await invocations.leaders_for(await registry.get(ADD))
    assert caught.value.code == "no_leader"


async def test_of_a_list_of_ones_own_the_first_two_that_are_active_are_named(
    invocations, added, registry, leaders, active_leader, second_leader
):
    _, third = await leaders.register("third")
    tool = await registry.get(ADD)
    nobody = Address.of(0xDEAD)
    mine = [nobody, third, second_leader, active_leader]
    assert await invocations.leaders_for(tool, mine) == (second_leader, active_leader)
    await leaders.activate(third)
    assert await invocations.leaders_for(tool, mine) == (third, second_leader)
    await leaders.deactivate(active_leader)
    assert set(await invocations.leaders_for(tool)) == {third, second_leader}


async def test_the_chain_names_no_leader_that_the_tool_does_not_list(
    invocations, priced_tool, second_leader, chain
):
    with pytest.raises(NotAllowedError) as caught:
        await _request_by(invocations, priced_tool, second_leader)
    assert caught.value.code == "leader_not_accepted"


async def test_the_chain_names_no_leader_that_is_not_active(
    invocations, priced_tool, leaders, active_leader
):
    await leaders.deactivate(active_leader)
    with pytest.raises(NotNowError) as caught:
        await _request_by(invocations, priced_tool, active_leader)
    assert caught.value.code == "leader_not_active"


async def test_the_chain_names_no_leader_twice(invocations, priced_tool, active_leader):
    with pytest.raises(ValidationError) as caught:
        await _request_by(invocations, priced_tool, active_leader, active_leader)
    assert caught.value.code == "same_leader"


async def _request_by(invocations, tool, *leaders):
    """Request without the checks that `Invocations.request` makes beforehand."""
    builder = TransactionBuilder()
    cost_mist = await invocations.quote(tool, INPUTS, 100)
    terms = {"max_outcome_bytes": 100, "payment_mist": cost_mist}
    settings = await LeaderRegistry(invocations.client, invocations.deployment).settings()
    named = (settings, tool, leaders)
    add_request(builder, invocations.deployment, *named, inputs=ports_of(INPUTS), **terms)
    return await invocations.send(builder)


# --- Waiting, expiring and deleting


async def test_an_invocation_that_nobody_closes_expires_and_all_of_it_comes_back(
    invocations, requested, chain, user
):
    with pytest.raises(NotNowError) as caught:
        await invocations.expire(requested)
    assert caught.value.code == "not_expired"
    assert "it expires at" in caught.value.message
    chain.net.advance_clock(WINDOW)
    prepaid = (await invocations.get(requested)).payment_mist
    before = await user.balance(user.address)
    sent = await invocations.expire(requested)
    assert await user.balance(user.address) == before + prepaid - sent.cost.net
    found = await invocations.get(requested)
    assert (found.state, found.payment_mist) == (State.Expired(), 0)
    assert (await invocations.outcome(requested)).reason is FailureReason.EXPIRED


async def test_what_nobody_closed_in_time_is_expired_and_deleted_at_once(
    invocations, requested, chain, user
):
    with pytest.raises(NotNowError, match="it expires at") as caught:
        await invocations.delete(requested)
    assert caught.value.code == "not_expired"
    chain.net.advance_clock(WINDOW)
    prepaid = (await invocations.get(requested)).payment_mist
    before = await user.balance(user.address)
    sent = await invocations.delete(requested)
    assert await user.balance(user.address) == before + prepaid - sent.cost.net
    with pytest.raises(NotFoundError) as gone:
        await invocations.get(requested)
    assert gone.value.code == "invocation_unknown"


async def test_deleting_a_closed_invocation_brings_back_its_storage(
    invocations, closing, requested, active_leader, user
):
    await closing.close(active_leader, {requested: ANSWER})
    before = await user.balance(user.address)
    sent = await invocations.delete(requested)
    assert await user.balance(user.address) == before - sent.cost.net
    assert sent.cost.storage_rebate > sent.cost.storage_cost


async def test_what_was_never_requested_is_not_deleted(invocations, requested):
    with pytest.raises(NotFoundError) as caught:
        await invocations.delete(Address.of(0xDEAD))
    assert caught.value.code == "invocation_unknown"


async def test_only_the_requester_deletes(closing, requested, active_leader):
    await closing.close(active_leader, {requested: ANSWER})
    with pytest.raises(NotAllowedError) as caught:
        await closing.delete(requested)
    assert caught.value.code == "not_requester"


async def test_waiting_ends_when_the_invocation_is_closed(
    invocations, closing, requested, priced_tool, active_leader
):
    _, other = await invocations.request(priced_tool, INPUTS)
    waiting = asyncio.create_task(invocations.closed(requested))
    await closing.close(active_leader, {other: ANSWER})
    await closing.close(active_leader, {requested: ANSWER})
    assert (await waiting).state.variant == "ok"


async def test_waiting_for_a_closed_invocation_ends_at_once(
    invocations, closing, requested, active_leader
):
    await closing.close(active_leader, {requested: ANSWER})
    assert await invocations.wait(requested) == ANSWER


async def test_who_waits_for_an_invocation_is_told_of_it_after_its_chain_was_set_back(
    chain, requested, active_leader
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
            closing = Invocations(leader, chain.deployment)
            await closing.close(active_leader, {requested: ANSWER})
        assert (await waiting).is_closed


async def test_the_views_of_an_invocation_are_what_python_decodes(
    invocations, closing, requested, active_leader, chain
):
    user = invocations.client
    await closing.close(active_leader, {requested: ANSWER})
    found = await invocations.get(requested)
    builder = TransactionBuilder()
    views = ("expires_at_ms", "is_closed", "tool", "requester", "leaders", "payment_mist")
    for view in views:
        getattr(calls.invocation, view)(builder, chain.deployment.package, requested)
    assert [values[0] for values in (await user.inspect(builder)).results] == [
        found.expires_at_ms.to_bytes(8, "little"),
        b"\x01",
        found.tool,
        user.address,
        b"\x01" + active_leader,
        bytes(8),
    ]


def test_the_bytes_of_an_answer_are_counted_as_the_chain_does():
    # "ok" has 2; the ports: a count, a name of 1 + 6, a variant, a text of 1 + 1.
    assert outcome_bytes(ANSWER) == 2 + 1 + 7 + 1 + 2
