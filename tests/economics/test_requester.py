"""What a requester may hope for: answers without paying for them, or money back twice."""

import pytest

from nexus_tools.package import ports_of
from nexus_tools.package.move import invocation as calls
from nexus_tools.registry import add_request
from nexus_tools.sui.builder import TransactionBuilder


async def test_a_requester_hoped_to_have_a_leader_of_its_own_named(parties, tool, told, refused):
    """It would keep the tool's answer and fail, and the price would stay in the family."""
    accomplice = await parties.register_leader("user", "accomplice")
    async with parties.round() as played:
        with refused("no_leader"):
            await parties.request(tool, leaders=[accomplice])
        with refused("leader_not_accepted"):
            await _ask(parties, tool, [accomplice])
    assert played["owner"] == played["leader"] == 0
    told(played["user"])


async def test_a_requester_hoped_for_an_answer_that_fits_no_outcome(
    parties, define, active_leader, told, refused
):
    """The tool would work, the answer could not be settled, and the fee for failing is small."""
    tool = await parties.register_tool(define(), active_leader, min_outcome_bytes=1_000)
    async with parties.round() as played:
        with refused("outcome_limit_too_small"):
            await parties.request(tool, max_outcome_bytes=0)
    assert played["owner"] == 0
    told(played["user"])


async def test_a_requester_hoped_to_delete_the_invocation_before_it_is_settled(
    parties, tool, active_leader, told, refused
):
    async with parties.round() as played:
        invocation = await parties.request(tool)
        with refused("not_expired"):
            await parties.invocations().delete(invocation)
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    told(0)


async def test_a_requester_hoped_to_be_refunded_twice(parties, tool, active_leader, told, refused):
    invocation = await parties.request(tool)
    await parties.settle(active_leader, invocation)
    async with parties.round() as played:
        with refused("closed"):
            await parties.invocations().call(calls.expire, invocation)
        await parties.invocations().delete(invocation)
    rebate_at_most = 5_000_000  # what the request paid for storage
    assert 0 < played["user"] < rebate_at_most
    assert played["owner"] == played["leader"] == 0
    told(0)


async def test_a_requester_hoped_to_pay_what_the_call_cost_before_the_price_was_raised(
    parties, tool, active_leader, told, refused
):
    await parties.tools().update(tool.fqn, price_mist=2 * tool.price_mist)
    async with parties.round() as played:
        with refused("tool_changed"):
            await parties.request(tool)  # as it was looked at before
    assert played["owner"] == 0
    told(played["user"])


async def test_a_requester_hoped_to_name_one_leader_twice_so_that_it_has_two_windows(
    parties, tool, active_leader, told, refused
):
    async with parties.round() as played:
        with refused("same_leader"):
            await _ask(parties, tool, [active_leader, active_leader])
    told(played["user"])


async def test_a_requester_hoped_to_invoke_a_tool_that_has_left(parties, tool, told, refused):
    await parties.tools().unregister(tool.fqn)
    async with parties.round() as played:
        with refused("tool_not_active"):
            await parties.request(tool)
    told(played["user"])


async def test_a_requester_hoped_to_invoke_a_tool_that_has_claimed(
    parties, tool, active_leader, told, refused
):
    await parties.tools().unregister(tool.fqn)
    parties.pass_time(7 * 86_400_000)
    await parties.tools().claim(tool.fqn)
    with refused("tool_not_active"):
        await _ask(parties, tool, [active_leader])
    told(0)


async def test_a_requester_hoped_to_bind_a_leader_that_has_stopped(
    parties, tool, active_leader, told, refused
):
    await parties.leaders().deactivate(active_leader)
    async with parties.round() as played:
        with refused("leader_not_active"):
            await _ask(parties, tool, [active_leader])
    assert played["leader"] == 0
    told(played["user"])


async def test_a_requester_hoped_to_delete_somebody_elses_invocation_for_its_rebate(
    parties, tool, active_leader, told, refused
):
    invocation = await parties.request(tool)
    await parties.settle(active_leader, invocation)
    with refused("not_requester"):
        await parties.invocations("admin").delete(invocation)
    told(0)


@pytest.mark.parametrize("size", [1, 8])
async def test_a_requester_hoped_that_large_inputs_are_at_the_leaders_expense(
    parties, define, active_leader, told, size
):
    """A leader rewrites the object with its inputs, and the fee pays each byte of them."""
    names = [f"p{place}" for place in range(size)]
    ports = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tool = await parties.register_tool(define(input_schema=ports), active_leader)
    large = dict.fromkeys(names, "x" * 8_000)
    _, invocation = await parties.invocations().request(tool, large)
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] > 0
    told(0)


async def _ask(parties, tool, leaders):
    """Request without looking first: the chain decides."""
    invocations = parties.invocations()
    cost_mist = await invocations.quote(tool, parties.INPUTS, 4_096)
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 4_096, "payment_mist": cost_mist}
    inputs = ports_of(parties.INPUTS)
    settings = await parties.leaders().settings()
    add_request(builder, parties.chain.deployment, settings, tool, leaders, inputs=inputs, **terms)
    return await invocations.send(builder)
