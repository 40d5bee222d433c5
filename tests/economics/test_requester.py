"""Attacks by a requester: answers without payment, or double refunds."""

import pytest

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import NexusError
from nexus_tools.registry import add_request
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason


async def test_requester_cannot_name_an_unlisted_leader(parties, tool, attack, refused):
    """Its own leader would withhold the tool's answer and fail, and the price would be refunded."""
    accomplice = await parties.register_leader("user", "accomplice")
    async with attack("user") as played:
        with refused("no_leader"):
            await parties.request(tool, leaders=[accomplice])
        with refused("leader_not_accepted"):
            await _ask(parties, tool, [accomplice])
    assert played["owner"] == played["leader"] == 0


async def test_requester_cannot_get_an_answer_above_the_maximum_size(
    parties, define, active_leader, attack, refused
):
    """The tool would work, the answer could not be settled, and the fee for failing is small."""
    tool = await parties.register_tool(define(), active_leader, min_outcome_bytes=1_000)
    async with attack("user") as played:
        with refused("outcome_limit_too_small"):
            await parties.request(tool, max_outcome_bytes=0)
    assert played["owner"] == 0


async def test_requester_cannot_delete_a_pending_invocation(
    parties, tool, active_leader, attack, refused
):
    await parties.honest(tool, active_leader)
    honest = await parties.honest(tool, active_leader)
    async with attack("user", honest) as played:
        invocation = await parties.request(tool)
        with refused("not_expired"):
            await parties.invocations().delete(invocation)
        await parties.settle(active_leader, invocation)
        await parties.invocations().delete(invocation)
    assert played.gained == honest


async def test_requester_cannot_be_refunded_twice(parties, tool, active_leader, attack, refused):
    invocation, other = await parties.request(tool), await parties.request(tool)
    await parties.settle(active_leader, invocation, other)
    async with parties.round() as honest:
        await parties.invocations().delete(other)
    async with attack("user", honest.gained) as played:
        with refused("already_closed"):
            await parties.invocations().call(calls.expire, invocation)
        await parties.invocations().delete(invocation)
    assert played.gained == honest.gained


async def test_requester_cannot_pay_the_price_from_before_a_raise(
    parties, tool, active_leader, attack, refused
):
    await parties.tools().update(tool.fqn, price_mist=2 * tool.price_mist)
    async with attack("user") as played:
        with refused("tool_changed"):
            await parties.request(tool)  # with the tool as it was read before
    assert played["owner"] == 0


async def test_requester_cannot_name_one_leader_twice(
    parties, tool, active_leader, attack, refused
):
    async with attack("user"):
        with refused("same_leader"):
            await _ask(parties, tool, [active_leader, active_leader])


async def test_requester_cannot_invoke_an_unregistered_tool(parties, tool, attack, refused):
    await parties.tools().unregister(tool.fqn)
    async with attack("user"):
        with refused("tool_not_active"):
            await parties.request(tool)


async def test_requester_cannot_invoke_a_tool_after_its_claim(
    parties, tool, active_leader, attack, refused
):
    await parties.tools().unregister(tool.fqn)
    parties.pass_time(7 * 86_400_000)
    await parties.tools().claim(tool.fqn)
    async with attack("user"):
        with refused("tool_not_active"):
            await _ask(parties, tool, [active_leader])


async def test_requester_cannot_name_a_stopped_leader(
    parties, tool, active_leader, attack, refused
):
    await parties.leaders().deactivate(active_leader)
    async with attack("user") as played:
        with refused("leader_not_active"):
            await _ask(parties, tool, [active_leader])
    assert played["leader"] == 0


async def test_requester_cannot_delete_another_requesters_invocation(
    parties, tool, active_leader, attack, refused
):
    invocation = await parties.request(tool)
    await parties.settle(active_leader, invocation)
    async with attack("admin"):
        with refused("not_requester"):
            await parties.invocations("admin").delete(invocation)


@pytest.mark.parametrize("size", [1, 8])
async def test_large_inputs_are_not_at_the_leaders_expense(
    parties, define, active_leader, attack, size
):
    """A leader rewrites the object with its inputs, and the fee pays each byte of them."""
    names = [f"p{place}" for place in range(size)]
    ports = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tool = await parties.register_tool(define(input_schema=ports), active_leader)
    honest = await parties.honest(tool, active_leader, dict.fromkeys(names, "x"))
    large = dict.fromkeys(names, "x" * 8_000)
    async with attack("user", {"user": honest["user"]}) as played:
        await parties.honest(tool, active_leader, large)
    assert played["leader"] > 0
    assert played["user"] < honest["user"]


async def test_long_port_names_cost_the_leader_less_than_its_fee(
    parties, define, active_leader, attack, refused
):
    """Each name is compared with every other one whenever ports are created."""
    ports = {"type": "object", "additionalProperties": {"type": "integer"}, "properties": {}}
    tool = await parties.register_tool(define(input_schema=ports), active_leader)
    longest = {"x" * 98 + f"{number:02}": number for number in range(32)}
    async with attack("user") as played:
        longer = Ports(values=((f"{'x' * 101}", Value.Inline(b"1")),))
        with refused("name_too_long"):
            await _ask(parties, tool, [active_leader], inputs=longer)
        for outcome in (parties.FAILURE, Answer("ok", longest)):
            terms = {"max_outcome_bytes": 8_000}
            _, place = await parties.invocations().request(tool, longest, **terms)
            await parties.invocations("leader").close(active_leader, {place: outcome})
    assert played["leader"] > 0


async def test_requester_cannot_pay_one_mist_less(parties, tool, active_leader, attack, refused):
    async with attack("user"):
        for less_mist in (1, -1):
            with refused("wrong_payment"):
                await _ask(parties, tool, [active_leader], less_mist=less_mist)


async def test_requester_cannot_occupy_a_leader_for_free(parties, tool, active_leader, attack):
    """A leader reports an unanswered question as a failure, and the requester pays it for that."""
    await parties.fail(active_leader, await parties.request(tool))
    async with attack("user") as played:
        places = [await parties.request(tool) for _ in range(8)]
        refusal = Failure(FailureReason.REFUSED, "too many at a time")
        await parties.invocations("leader").close(active_leader, dict.fromkeys(places, refusal))
        await parties.invocations().delete(*places)
    assert played["leader"] > 0
    assert -played["user"] > 8 * 1_521_500


async def test_requester_cannot_get_answers_by_expired_invocations(
    parties, tool, active_leader, attack
):
    """Answers reach it only through a leader that settles. It only blocks a slot for a while."""
    async with attack("user") as played:
        places = [await parties.request(tool) for _ in range(4)]
        parties.pass_windows()
        await parties.invocations().delete(*places)
    assert played["owner"] == played["leader"] == 0
    assert played["user"] < 0


async def test_requester_cannot_get_two_calls_for_the_price_of_one(
    parties, tool, active_leader, attack, refused
):
    """Both are in one transaction, with one payment."""
    invocations = parties.invocations()
    settings = await parties.leaders().settings()
    cost_mist = await invocations.quote(tool, parties.INPUTS)
    builder = TransactionBuilder()
    for payment_mist in (cost_mist, 0):
        add_request(
            builder,
            parties.chain.deployment,
            settings,
            tool,
            [active_leader],
            inputs=ports_of(parties.INPUTS),
            max_outcome_bytes=4_096,
            payment_mist=payment_mist,
        )
    async with attack("user"):
        with refused("wrong_payment"):
            await invocations.send(builder)


async def test_prepayment_cannot_cost_another_account(parties, tool, active_leader, attack):
    """It may prepay half a SUI for a short answer, and is refunded immediately."""
    terms = {"max_outcome_bytes": 65_536}
    async with attack("user") as played:
        await parties.settle(active_leader, await parties.request(tool, **terms))
    assert played["user"] > -110_000_000


async def test_requester_cannot_fail_a_batch_with_a_deleted_invocation(
    parties, tool, active_leader, attack
):
    """A transaction that names a deleted invocation is refused before it costs anything.

    The leader sends the others again. This can happen only to a late leader.
    """
    late, later = await parties.request(tool), await parties.request(tool)
    parties.pass_windows()
    other, another = await parties.request(tool), await parties.request(tool)
    async with parties.round() as honest:
        await parties.invocations().delete(later)
        await parties.settle(active_leader, another)
    async with attack("user", honest.gained) as played:
        await parties.invocations().delete(late)
        with pytest.raises(NexusError):
            await parties.settle(active_leader, other, late)
        await parties.settle(active_leader, other)
    assert played["owner"] == tool.price_mist
    assert played["leader"] > 2_000_000


async def _ask(parties, tool, leaders, less_mist=0, inputs=None):
    """Request without a check by the client, perhaps for less, so that the chain decides."""
    invocations = parties.invocations()
    cost_mist = await invocations.quote(tool, parties.INPUTS, 4_096)
    builder = TransactionBuilder()
    terms = {"max_outcome_bytes": 4_096, "payment_mist": cost_mist - less_mist}
    inputs = inputs or ports_of(parties.INPUTS)
    settings = await parties.leaders().settings()
    add_request(builder, parties.chain.deployment, settings, tool, leaders, inputs=inputs, **terms)
    return await invocations.send(builder)
