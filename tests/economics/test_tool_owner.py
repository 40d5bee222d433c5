"""Attacks by the owner of a tool, its operators, and the buyer of its name."""

from nexus_tools.contracts import leader_id, name_id
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, OutcomeSignature, SigningKey, ToolFqn
from nexus_tools.tool.signing.signed_outcome import outcome_message

NAME = "xyz.example.math.add"
DAY_MS = 86_400_000


def by_owner(parties, tool):
    """Return the first arguments of the owner's functions."""
    return tool.id, tool.name, parties.chain.deployment.tool_registry


async def test_owner_cannot_raise_the_price_of_a_pending_call(parties, tool, active_leader, attack):
    invocation = await parties.request(tool)
    await parties.tools().update(tool.fqn, price_mist=5 * tool.price_mist)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist


async def test_owner_cannot_redirect_a_pending_call(parties, tool, attack, refused):
    await parties.tools().update(tool.fqn, url="https://elsewhere.example.com")
    async with attack("owner"):
        with refused("tool_changed"):
            await parties.request(tool)  # with the tool as it was read before


async def test_owner_cannot_ask_a_price_without_collateral(parties, tool, attack, refused):
    """The price that it could take is at most half of the collateral that it would lose."""
    async with attack("owner"):
        with refused("price_too_high"):
            await parties.tools().update(tool.fqn, price_mist=500_000_001)


async def test_owner_cannot_leave_before_a_slash(parties, tool, attack, refused):
    """The proposed amount is locked; the rest is claimed on time."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    async with attack("owner", {"owner": 1_000_000_000}) as played:
        await tools.claim(tool.fqn)
        with refused("locked_for_slash"):
            await tools.claim(tool.fqn)
    assert 590_000_000 < played["owner"] < 600_000_000
    parties.pass_time(2 * DAY_MS)
    async with parties.round() as slashed:
        await admins.execute_slash(tool.fqn)
    assert slashed["owner"] == 0
    assert slashed["admin"] < 0


async def test_owner_cannot_avoid_a_slash_by_a_new_lock(parties, tool, attack, refused):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    await tools.claim(tool.fqn)
    async with attack("owner"):
        with refused("not_claimed"):
            await tools.re_register(tool.fqn)


async def test_seller_cannot_keep_the_payouts_of_a_sold_name(parties, tool, active_leader, attack):
    honest = await parties.honest(tool, active_leader)
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    bought = await parties.tools().get(tool.fqn)
    async with attack("owner", honest) as played:
        await parties.honest(bought, active_leader)
    assert (played["owner"], played["admin"]) == (0, tool.price_mist)


async def test_seller_cannot_remain_an_operator(parties, tool, attack, refused):
    tools = parties.tools()
    await tools.add_operator(tool.fqn, parties.address("user"))
    await tools.add_operator(tool.fqn, parties.address("owner"))
    await tools.offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    async with attack("owner"):
        for former in ("owner", "user"):
            with refused("not_operator"):
                await parties.tools(former).update(tool.fqn, url="https://mine.example.com")


async def test_seller_cannot_answer_with_its_old_key(parties, define, active_leader, attack):
    """This includes a key that it adds after the buyer's check, while answers must be signed."""
    key, later = b"\x02" * 32, b"\x03" * 32
    terms = {"keys": (key,), "requires_signed_outcome": True}
    tool = await parties.register_tool(define(), active_leader, **terms)
    await parties.tools().offer(NAME, parties.address("admin"))
    async with attack("admin"):
        await parties.tools().add_key(tool.fqn, later)
        await parties.tools("admin").accept(NAME)
    bought = await parties.tools().get(tool.fqn)
    assert (bought.keys.keys, bought.requires_signed_outcome) == ((), False)


async def test_buyer_cannot_accept_an_offer_to_another_account(parties, tool, attack, refused):
    await parties.tools().offer(NAME, parties.address("admin"))
    async with attack("user"):
        with refused("not_offered"):
            await parties.tools("user").accept(NAME)


async def test_buyer_cannot_accept_a_withdrawn_offer(parties, tool, attack, refused):
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools().offer(NAME, None)
    async with attack("admin"):
        with refused("not_offered"):
            await parties.tools("admin").accept(NAME)


async def test_operator_cannot_be_paid(parties, tool, attack, refused):
    """Its key is on a server. A thief of the key can only set URL, timeout and price."""
    await parties.tools().add_operator(tool.fqn, parties.address("user"))
    thief, address = parties.tools("user"), parties.address("user")
    async with attack("user"):
        for attempt in (
            thief.update(tool.fqn, payout=address),
            thief.update(tool.fqn, description="mine"),
            thief.update(tool.fqn, requires_signed_outcome=False),
            thief.add_operator(tool.fqn, parties.address("admin")),
            thief.add_leader(tool.fqn, address),
            thief.add_key(tool.fqn, bytes(32)),
            thief.unregister(tool.fqn),
            thief.offer(NAME, address),
        ):
            with refused("not_owner"):
                await attempt


async def test_operator_cannot_open_a_priced_tool_to_all_leaders(
    parties, tool, active_leader, attack, refused
):
    """It may remove the last leader from the list. Then no leader can be named."""
    await parties.tools().add_operator(tool.fqn, parties.address("stranger"))
    thief = parties.tools("stranger")
    accomplice = await parties.register_leader("stranger", "accomplice")
    async with attack("stranger") as played:
        with refused("not_owner"):
            await thief.call(calls.accept_any_leader, *by_owner(parties, tool))
        with refused("not_owner"):
            await thief.add_leader(tool.fqn, accomplice)
        await thief.remove_leader(tool.fqn, active_leader)
        closed = await parties.tools().get(tool.fqn)
        with refused("no_leader"):
            await parties.request(closed, leaders=[accomplice])
    assert played["owner"] == played["leader"] == 0


async def test_owner_of_another_name_cannot_act_on_a_tool(parties, tool, define, attack, refused):
    """The tool stores the name that it is a version of."""
    own = ToolFqn.parse("xyz.example.math.mine@1")
    await parties.tools("user").register(Registration(define(str(own))))
    deployment = parties.chain.deployment
    name = name_id(deployment.tool_registry, own.unversioned)
    async with attack("user"):
        with refused("wrong_name"):
            await parties.tools("user").call(calls.unregister, tool.id, name)
        with refused("wrong_name"):
            await parties.tools("user").call(
                calls.update_payout,
                tool.id,
                name,
                deployment.tool_registry,
                parties.address("user"),
            )


async def test_seller_cannot_add_an_operator_after_the_buyers_check(parties, tool, attack, refused):
    await parties.tools().offer(NAME, parties.address("stranger"))
    async with attack("owner"):
        await parties.tools().add_operator(tool.fqn, parties.address("user"))
        await parties.tools("stranger").accept(NAME)
        with refused("not_operator"):
            await parties.tools("user").update(tool.fqn, price_mist=1)


async def test_seller_cannot_claim_the_collateral_of_a_sold_name(parties, tool, attack, refused):
    """It is transferred with the name. A buyer checks the locked amount and its timer."""
    await parties.tools().unregister(tool.fqn)
    await parties.tools().offer(NAME, parties.address("stranger"))
    await parties.tools("stranger").accept(NAME)
    parties.pass_time(7 * DAY_MS)
    async with attack("owner"):
        with refused("not_owner"):
            await parties.tools().claim(tool.fqn)
    async with parties.round() as played:
        await parties.tools("stranger").claim(tool.fqn)
    assert played["stranger"] > 990_000_000


async def test_owner_cannot_invalidate_answers_by_removing_a_key(
    parties, define, active_leader, attack
):
    """The invocation stores the keys at the time of its request, so no work is in vain."""
    key = SigningKey.new()
    terms = {"keys": (key.public_key,), "requires_signed_outcome": True}
    tool = await parties.register_tool(define(), active_leader, **terms)
    invocation = await parties.request(tool)
    message = outcome_message(bytes(invocation), parties.INPUTS, parties.ANSWER)
    signature = OutcomeSignature(key.public_key, key.private.sign(message))
    signed = Answer(parties.ANSWER.variant, parties.ANSWER.ports, signature)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.tools().remove_key(tool.fqn, key.public_key)
        await parties.invocations("leader").close(active_leader, {invocation: signed})
    assert played["leader"] > 0


async def test_owner_cannot_require_signatures_for_pending_calls(
    parties, tool, active_leader, attack
):
    invocation = await parties.request(tool)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.tools().add_key(tool.fqn, b"\x02" * 32)
        await parties.tools().update(tool.fqn, requires_signed_outcome=True)
        await parties.settle(active_leader, invocation)
    assert played["leader"] > 0


async def test_owner_cannot_require_a_larger_maximum_after_the_request(
    parties, tool, attack, refused
):
    """It is prepaid and refunded, but a requester prepays only the amount that it saw."""
    async with attack("owner"):
        await parties.tools().update(tool.fqn, min_outcome_bytes=60_000)
        with refused("tool_changed"):
            await parties.request(tool, max_outcome_bytes=60_000)


async def test_owner_cannot_leave_with_prices_of_missing_answers(
    parties, tool, active_leader, attack, refused
):
    """A price is paid for an answer, so an owner that left is paid only for given answers."""
    settled, forgotten = await parties.request(tool), await parties.request(tool)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.tools().unregister(tool.fqn)
        await parties.settle(active_leader, settled)
        parties.pass_windows()
        await parties.invocations().delete(forgotten)
        with refused("delay_not_over"):
            await parties.tools().claim(tool.fqn)
    assert played["owner"] < tool.price_mist


async def test_owner_cannot_list_a_leader_before_its_registration(parties, tool, attack, refused):
    """The ID of the next leader is predictable, so its later owner would be listed."""
    following = leader_id(parties.chain.deployment.leader_registry, 1)
    async with attack("owner"):
        with refused("leader_unknown"):
            await parties.tools().add_leader(tool.fqn, following)
        with refused("leader_unknown"):
            await parties.tools().add_leader(tool.fqn, Address.of(0xA1))


async def test_owner_cannot_use_a_key_that_anyone_can_sign_with(parties, tool, attack, refused):
    """Otherwise it could claim that another account gave an answer."""
    async with attack("owner"):
        with refused("public_key_invalid"):
            await parties.tools().add_key(tool.fqn, bytes(32))


async def test_owner_cannot_raise_the_price_of_an_open_tool(parties, define, attack, refused):
    """An open tool has no price, and its users cannot be asked for one."""
    tool = await parties.register_tool(define(), price_mist=0)
    async with attack("owner"):
        with refused("accepts_any_leader"):
            await parties.tools().update(tool.fqn, price_mist=1)


async def test_limitation_owner_can_have_its_own_leader_invent_answers(parties, define, attack):
    """A requester that names a leader of the tool's owner pays for any answer.

    The limit of law 1: the requester chose both, and loses a price each time.
    """
    own = await parties.register_leader("owner", "own")
    tool = await parties.register_tool(define(), own)
    async with attack("owner") as played:
        await parties.honest(tool, own, party="owner")
    assert played["owner"] > tool.price_mist
    assert played["user"] < -tool.price_mist
