"""Invocations as requesters use them: request, wait and delete."""

import asyncio
import re

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
    UsageError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.registry import (
    DEFAULT_MAX_OUTCOME_BYTES,
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
# The initial settings of the package, at the localnet's reference gas price of 1 000 MIST.
SETTLE_FEE, INPUT_BYTE, OUTCOME_BYTE = 1_000 * 1_000 + 520_000 + 2_000_000, 100, 7_600
WINDOW = 5_000 + 15_000
DAY = 86_400_000
SUI = 1_000_000_000


@pytest.fixture
async def requested(invocations, priced_tool):
    return (await invocations.request(priced_tool, INPUTS, max_outcome_bytes=100))[1]


@pytest.fixture
async def second_leader(user, chain):
    """Return the ID of another active leader, which `user` owns and works for."""
    leaders = LeaderRegistry(user, chain.deployment)
    return (await leaders.register("second", activate=True))[1]


# --- Cost


async def test_cost_equals_quote_in_python_and_move(invocations, priced_tool, user, chain):
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


async def test_quote_follows_the_gas_price(invocations, priced_tool):
    settings = await LeaderRegistry(invocations.client, invocations.deployment).settings()
    cheap, dear = (quote_mist(settings, priced_tool, 0, 0, price) for price in (500, 1_500))
    assert (cheap, dear) == (PRICE + 3_020_000, PRICE + 4_020_000)


async def test_request_fails_above_max_cost(invocations, priced_tool):
    cost_mist = await invocations.quote(priced_tool, INPUTS)
    with pytest.raises(WrongStateError) as caught:
        await invocations.request(priced_tool, INPUTS, max_cost_mist=cost_mist - 1)
    assert caught.value.code == "too_expensive"
    assert caught.value.hint.startswith("Ask the owner of the funds")
    await invocations.request(priced_tool, INPUTS, max_cost_mist=cost_mist)


# --- Valid requests


async def test_requested_invocation_has_terms_of_tool(
    invocations, requested, priced_tool, active_leader, owner, user
):
    invocation = await invocations.get(requested)
    assert (invocation.tool, invocation.fqn, invocation.requester) == (
        priced_tool.id,
        str(ADD),
        user.address,
    )
    assert invocation.inputs.as_json() == INPUTS
    assert invocation.state == State.Requested()
    assert (invocation.leaders, invocation.timeout_ms, invocation.window_ms) == (
        (active_leader,),
        5_000,
        WINDOW,
    )
    assert invocation.expires_at_ms == invocation.requested_at_ms + WINDOW
    assert (invocation.price_mist, invocation.payout) == (PRICE, owner.address)


async def test_each_of_two_leaders_has_a_window(
    invocations, added, registry, active_leader, second_leader
):
    leader_ids = (second_leader, active_leader)
    _, place = await invocations.request(await registry.get(ADD), INPUTS, leaders=leader_ids)
    invocation = await invocations.get(place)
    assert invocation.leaders == leader_ids
    assert invocation.expires_at_ms == invocation.requested_at_ms + 2 * WINDOW


async def test_large_input_is_joined_from_chunks(invocations, priced_tool):
    text = "x" * 40_000
    _, invocation = await invocations.request(priced_tool, {"a": text})
    assert (await invocations.get(invocation)).inputs.as_json() == {"a": text}


async def test_every_kind_of_input_is_stored_unchanged(
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
    parties = (settings, priced_tool, [active_leader])
    add_request(builder, chain.deployment, *parties, inputs=inputs, **terms)
    sent = await invocations.send(builder)
    [invocation] = sent.created_of("invocation", "Invocation")
    assert (await invocations.get(invocation)).inputs == inputs


@pytest.mark.parametrize("count", [0, 3])
async def test_add_request_rejects_three_leaders(priced_tool, leaders, active_leader, chain, count):
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
    assert caught.value.code == "leader_count_invalid"


async def test_default_outcome_limit_is_that_of_the_tool(invocations, registry, priced_tool):
    _, small = await invocations.request(priced_tool, INPUTS)
    assert (await invocations.get(small)).max_outcome_bytes == DEFAULT_MAX_OUTCOME_BYTES
    await registry.update(ADD, min_outcome_bytes=DEFAULT_MAX_OUTCOME_BYTES + 1)
    _, large = await invocations.request(await registry.get(ADD), INPUTS)
    assert (await invocations.get(large)).max_outcome_bytes == DEFAULT_MAX_OUTCOME_BYTES + 1


# --- Rejected requests


@pytest.mark.usefixtures("active_leader")
async def test_request_fails_for_inactive_tool(invocations, added, registry):
    before = await registry.get(ADD)
    await registry.unregister(ADD)
    with pytest.raises(WrongStateError, match="cancel the unregistration") as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "tool_not_active"
    with pytest.raises(WrongStateError) as refused:
        await invocations.request(before, INPUTS)
    assert refused.value.code == "tool_not_active"
    assert refused.value.details["module"] == "invocation"


@pytest.mark.parametrize(
    "change", [{"url": "https://elsewhere.example.com"}, {"price_mist": PRICE - 1}]
)
async def test_request_fails_if_tool_has_changed(invocations, registry, priced_tool, change):
    await registry.update(ADD, **change)
    with pytest.raises(WrongStateError) as caught:
        await invocations.request(priced_tool, INPUTS)
    assert caught.value.code == "tool_changed"


async def test_request_fails_if_settings_have_changed(
    invocations, priced_tool, leaders, leader_admins, active_leader
):
    seen = await leaders.settings()
    cost_mist = await invocations.quote(priced_tool, INPUTS, 100)
    # The total stays the same, but the fee would be higher.
    dearer = replace(seen, settle_margin_mist=seen.settle_margin_mist + 100 * 1_000)
    changed = replace(dearer, fee_per_outcome_byte_mist=seen.fee_per_outcome_byte_mist - 1_000)
    await leader_admins.configure(changed)
    assert await invocations.quote(priced_tool, INPUTS, 100) == cost_mist
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 100, "payment_mist": cost_mist}
    parties = (seen, priced_tool, [active_leader])
    add_request(builder, invocations.deployment, *parties, inputs=ports_of(INPUTS), **terms)
    with pytest.raises(WrongStateError) as caught:
        await invocations.send(builder)
    assert caught.value.code == "settings_changed"


async def test_request_fails_if_payment_is_not_the_quote(
    invocations, priced_tool, leaders, active_leader, chain
):
    parties = (await leaders.settings(), priced_tool, [active_leader])
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 0, "payment_mist": PRICE + SETTLE_FEE + INPUT_BYTE}
    add_request(builder, chain.deployment, *parties, inputs=ports_of({}), **terms)
    await invocations.dry_run_client().send(builder)
    builder = TransactionBuilder()
    terms["payment_mist"] += 1
    add_request(builder, chain.deployment, *parties, inputs=ports_of({}), **terms)
    with pytest.raises(WrongStateError) as caught:
        await invocations.send(builder)
    assert caught.value.code == "wrong_payment"


async def test_request_fails_below_minimum_outcome_size_of_tool(invocations, registry, priced_tool):
    await registry.update(ADD, min_outcome_bytes=200)
    tool = await registry.get(ADD)
    with pytest.raises(ValidationError) as caught:
        await invocations.request(tool, INPUTS, max_outcome_bytes=199)
    assert caught.value.code == "outcome_limit_too_small"
    await invocations.request(tool, INPUTS, max_outcome_bytes=200)


@pytest.mark.parametrize("limit", [0, 1])
async def test_request_fails_if_no_answer_fits_the_limit(invocations, registry, priced_tool, limit):
    with pytest.raises(ValidationError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS, max_outcome_bytes=limit)
    assert caught.value.code == "outcome_limit_too_small"
    assert "takes 2" in caught.value.hint  # one byte for the letter, one for the number of ports


async def test_request_fails_if_signing_tool_has_no_key(invocations, registry, priced_tool):
    await registry.add_key(ADD, KEY)
    await registry.update(ADD, requires_signed_outcome=True)
    await registry.remove_key(ADD, KEY)
    with pytest.raises(WrongStateError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "tool_without_key"


async def test_closed_registry_stops_requests_but_not_closings(
    invocations, requested, priced_tool, leader_admins, closing, active_leader
):
    settings = await leader_admins.settings()
    await leader_admins.configure(replace(settings, accepting=False))
    with pytest.raises(WrongStateError) as caught:
        await invocations.request(priced_tool, INPUTS)
    assert caught.value.code == "not_accepting"
    await closing.close(active_leader, {requested: ANSWER})
    await invocations.delete(requested)


# --- Named leaders


async def test_request_fails_without_an_active_leader(invocations, added, registry):
    with pytest.raises(WrongStateError) as caught:
        await invocations.request(await registry.get(ADD), INPUTS)
    assert caught.value.code == "no_leader"


async def test_request_names_only_listed_leaders(
    invocations, priced_tool, active_leader, second_leader
):
    assert (await invocations.choose_leaders(priced_tool)).leaders == (active_leader,)
    assert (
        await invocations.choose_leaders(priced_tool, [second_leader, active_leader])
    ).leaders == (active_leader,)
    with pytest.raises(WrongStateError) as caught:
        await invocations.choose_leaders(priced_tool, [second_leader])
    assert caught.value.code == "no_leader"


async def test_request_fails_if_tool_lists_no_leader(
    invocations, priced_tool, registry, active_leader
):
    await registry.remove_leader(ADD, active_leader)
    with pytest.raises(WrongStateError) as caught:
        await invocations.choose_leaders(await registry.get(ADD))
    assert caught.value.code == "no_leader"


async def test_request_names_first_two_active_given_leaders(
    invocations, added, registry, leaders, active_leader, second_leader
):
    _, third = await leaders.register("third")
    tool = await registry.get(ADD)
    nobody = Address.of(0xDEAD)
    candidates = [nobody, third, second_leader, active_leader]
    assert (await invocations.choose_leaders(tool, candidates)).leaders == (
        second_leader,
        active_leader,
    )
    await leaders.activate(third)
    assert (await invocations.choose_leaders(tool, candidates)).leaders == (third, second_leader)
    await leaders.deactivate(active_leader)
    assert set((await invocations.choose_leaders(tool)).leaders) == {third, second_leader}


async def test_chain_rejects_leader_that_is_not_listed(
    invocations, priced_tool, second_leader, chain
):
    with pytest.raises(NotAllowedError) as caught:
        await _request_by(invocations, priced_tool, second_leader)
    assert caught.value.code == "leader_not_accepted"


async def test_chain_rejects_inactive_leader(invocations, priced_tool, leaders, active_leader):
    await leaders.deactivate(active_leader)
    with pytest.raises(WrongStateError) as caught:
        await _request_by(invocations, priced_tool, active_leader)
    assert caught.value.code == "leader_not_active"


async def test_chain_rejects_same_leader_twice(invocations, priced_tool, active_leader):
    with pytest.raises(ValidationError) as caught:
        await _request_by(invocations, priced_tool, active_leader, active_leader)
    assert caught.value.code == "same_leader"


async def _request_by(invocations, tool, *leaders):
    """Request an invocation without the checks of `Invocations.request`."""
    builder = TransactionBuilder()
    cost_mist = await invocations.quote(tool, INPUTS, 100)
    terms = {"max_outcome_bytes": 100, "payment_mist": cost_mist}
    settings = await LeaderRegistry(invocations.client, invocations.deployment).settings()
    parties = (settings, tool, leaders)
    add_request(builder, invocations.deployment, *parties, inputs=ports_of(INPUTS), **terms)
    return await invocations.send(builder)


# --- Waiting, expiring and deleting


async def test_expire_refunds_the_whole_payment(invocations, requested, chain, user):
    with pytest.raises(WrongStateError) as caught:
        await invocations.expire(requested)
    assert caught.value.code == "not_expired"
    assert "expires at" in caught.value.message
    chain.net.advance_clock(WINDOW)
    prepaid = (await invocations.get(requested)).payment_mist
    before = await user.balance(user.address)
    sent = await invocations.expire(requested)
    assert await user.balance(user.address) == before + prepaid - sent.cost.net
    invocation = await invocations.get(requested)
    assert (invocation.state, invocation.payment_mist) == (State.Expired(), 0)
    assert (await invocations.outcome(requested)).reason is FailureReason.EXPIRED


async def test_wait_for_an_overdue_invocation_names_the_next_commands(
    invocations, requested, chain, monkeypatch
):
    monkeypatch.setattr("nexus_tools.registry.invocations.invocations._GRACE_S", 0)
    chain.net.advance_clock(WINDOW)
    with pytest.raises(WrongStateError) as caught:
        await invocations.wait(requested)
    assert caught.value.code == "not_closed"
    commands = re.findall("`nexus-tools ([^`]+)`", caught.value.hint)
    outcome = f"tool outcome {requested} --delete"
    assert commands == ["leader list", "leader run", outcome]


async def test_delete_expires_overdue_invocation_first(invocations, requested, chain, user):
    with pytest.raises(WrongStateError, match="expires at") as caught:
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


async def test_delete_returns_storage_rebate(invocations, closing, requested, active_leader, user):
    await closing.close(active_leader, {requested: ANSWER})
    before = await user.balance(user.address)
    sent = await invocations.delete(requested)
    assert await user.balance(user.address) == before - sent.cost.net
    assert sent.cost.storage_rebate > sent.cost.storage_cost


async def test_delete_fails_for_unknown_invocation(invocations, requested):
    with pytest.raises(NotFoundError) as caught:
        await invocations.delete(Address.of(0xDEAD))
    assert caught.value.code == "invocation_unknown"


async def test_delete_fails_for_another_requester(closing, requested, active_leader):
    await closing.close(active_leader, {requested: ANSWER})
    with pytest.raises(NotAllowedError) as caught:
        await closing.delete(requested)
    assert caught.value.code == "not_requester"


async def test_wait_returns_when_invocation_is_closed(
    invocations, closing, requested, priced_tool, active_leader
):
    _, other = await invocations.request(priced_tool, INPUTS)
    waiting = asyncio.create_task(invocations.wait_until_closed(requested))
    await closing.close(active_leader, {other: ANSWER})
    await closing.close(active_leader, {requested: ANSWER})
    assert (await waiting).state.variant == "ok"


async def test_wait_returns_at_once_for_closed_invocation(
    invocations, closing, requested, active_leader
):
    await closing.close(active_leader, {requested: ANSWER})
    assert await invocations.wait(requested) == ANSWER


async def test_wait_continues_after_a_rollback(chain, requested, active_leader):
    snapshot = chain.net.snapshot()
    async with (
        asyncio.timeout(30),
        Gateway(chain.net.url).running() as gateway,
        SuiClient(gateway.network) as client,
    ):
        waiting = asyncio.create_task(
            Invocations(client, chain.deployment).wait_until_closed(requested)
        )
        await gateway.asked("GetObject", 1)  # it subscribed to events before this request
        async with chain.client("owner") as owner:
            for _ in range(5):
                await owner.execute(TransactionBuilder())
        await gateway.asked("GetCheckpoint", 1)  # it has read some events
        chain.net.revert(snapshot)
        async with chain.client("leader") as leader:
            closing = Invocations(leader, chain.deployment)
            await closing.close(active_leader, {requested: ANSWER})
        assert (await waiting).is_closed


async def test_invocation_views_equal_decoded_fields(
    invocations, closing, requested, active_leader, chain
):
    user = invocations.client
    await closing.close(active_leader, {requested: ANSWER})
    invocation = await invocations.get(requested)
    builder = TransactionBuilder()
    views = ("expires_at_ms", "is_closed", "tool", "requester", "leaders", "payment_mist")
    for view in views:
        getattr(calls.invocation, view)(builder, chain.deployment.package, requested)
    assert [values[0] for values in (await user.inspect(builder)).results] == [
        invocation.expires_at_ms.to_bytes(8, "little"),
        b"\x01",
        invocation.tool,
        user.address,
        b"\x01" + active_leader,
        bytes(8),
    ]


def test_outcome_bytes_equal_those_of_the_chain():
    # "ok" has 2; the ports: a count, a name of 1 + 6, a variant, a text of 1 + 1.
    assert outcome_bytes(ANSWER) == 2 + 1 + 7 + 1 + 2
