"""What the owner of a tool, its operators and who bought its name may hope for."""

from nexus_tools.contracts import leader_id, name_id
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, OutcomeSignature, SigningKey, ToolFqn
from nexus_tools.tool.signing.signed_outcome import outcome_message

NAME = "xyz.example.math.add"
DAY_MS = 86_400_000


def by_owner(parties, tool):
    """What the owner's functions begin with."""
    return tool.id, tool.name, parties.chain.deployment.tool_registry


async def test_an_owner_hoped_to_raise_the_price_of_a_call_that_is_on_its_way(
    parties, tool, active_leader, attack
):
    invocation = await parties.request(tool)
    await parties.tools().update(tool.fqn, price_mist=5 * tool.price_mist)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist


async def test_an_owner_hoped_that_a_call_goes_elsewhere_than_the_requester_saw(
    parties, tool, attack, refused
):
    await parties.tools().update(tool.fqn, url="https://elsewhere.example.com")
    async with attack("owner"):
        with refused("tool_changed"):
            await parties.request(tool)  # as it was looked at before


async def test_an_owner_hoped_for_a_price_with_nothing_behind_it(parties, tool, attack, refused):
    """What it could take and run away with is at most half of what it would lose."""
    async with attack("owner"):
        with refused("price_too_high"):
            await parties.tools().update(tool.fqn, price_mist=500_000_001)


async def test_an_owner_hoped_to_leave_before_a_slash(parties, tool, attack, refused):
    """What is proposed is held back; the rest is claimed on time."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    async with attack("owner", {"owner": 1_000_000_000}) as played:
        await tools.claim(tool.fqn)
        with refused("held_back"):
            await tools.claim(tool.fqn)
    assert 590_000_000 < played["owner"] < 600_000_000
    parties.pass_time(2 * DAY_MS)
    async with parties.round() as slashed:
        await admins.execute_slash(tool.fqn)
    assert slashed["owner"] == 0
    assert slashed["admin"] < 0


async def test_an_owner_hoped_to_lock_anew_to_be_rid_of_a_slash(parties, tool, attack, refused):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    await tools.claim(tool.fqn)
    async with attack("owner"):
        with refused("not_claimed"):
            await tools.re_register(tool.fqn)


async def test_a_seller_hoped_to_keep_the_payouts_of_the_name_that_it_sold(
    parties, tool, active_leader, attack
):
    honest = await parties.honest(tool, active_leader)
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    bought = await parties.tools().get(tool.fqn)
    async with attack("owner", honest) as played:
        await parties.honest(bought, active_leader)
    assert (played["owner"], played["admin"]) == (0, tool.price_mist)


async def test_a_seller_hoped_to_remain_an_operator(parties, tool, attack, refused):
    tools = parties.tools()
    await tools.add_operator(tool.fqn, parties.address("user"))
    await tools.add_operator(tool.fqn, parties.address("owner"))
    await tools.offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    async with attack("owner"):
        for former in ("owner", "user"):
            with refused("not_operator"):
                await parties.tools(former).update(tool.fqn, url="https://mine.example.com")


async def test_a_seller_hoped_to_answer_with_its_old_key(parties, define, active_leader, attack):
    """Also with one that it adds after the buyer looked, while answers have to be signed."""
    key, later = b"\x02" * 32, b"\x03" * 32
    terms = {"keys": (key,), "requires_signed_outcome": True}
    tool = await parties.register_tool(define(), active_leader, **terms)
    await parties.tools().offer(NAME, parties.address("admin"))
    async with attack("admin"):
        await parties.tools().add_key(tool.fqn, later)
        await parties.tools("admin").accept(NAME)
    bought = await parties.tools().get(tool.fqn)
    assert (bought.keys.keys, bought.requires_signed_outcome) == ((), False)


async def test_a_buyer_hoped_to_accept_what_was_offered_to_another(parties, tool, attack, refused):
    await parties.tools().offer(NAME, parties.address("admin"))
    async with attack("user"):
        with refused("not_offered"):
            await parties.tools("user").accept(NAME)


async def test_a_buyer_hoped_that_an_offer_that_was_taken_back_holds(
    parties, tool, attack, refused
):
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools().offer(NAME, None)
    async with attack("admin"):
        with refused("not_offered"):
            await parties.tools("admin").accept(NAME)


async def test_an_operator_hoped_to_be_paid(parties, tool, attack, refused):
    """Its key lies on a machine: whoever steals it sets URL, timeout and price, and no more."""
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


async def test_an_operator_hoped_to_open_a_priced_tool_to_all_leaders(
    parties, tool, active_leader, attack, refused
):
    """It may take the last leader off the list: then none can be named, and none is named."""
    await parties.tools().add_operator(tool.fqn, parties.address("stranger"))
    thief = parties.tools("stranger")
    accomplice = await parties.register_leader("stranger", "accomplice")
    async with attack("stranger") as played:
        with refused("not_owner"):
            await thief.call(calls.open_to_all, *by_owner(parties, tool))
        with refused("not_owner"):
            await thief.add_leader(tool.fqn, accomplice)
        await thief.remove_leader(tool.fqn, active_leader)
        closed = await parties.tools().get(tool.fqn)
        with refused("no_leader"):
            await parties.request(closed, leaders=[accomplice])
    assert played["owner"] == played["leader"] == 0


async def test_a_thief_hoped_to_act_with_a_name_of_its_own(parties, tool, define, attack, refused):
    """The tool knows of which name it is a version."""
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


async def test_a_seller_hoped_to_add_an_operator_when_the_buyer_has_looked(
    parties, tool, attack, refused
):
    await parties.tools().offer(NAME, parties.address("stranger"))
    async with attack("owner"):
        await parties.tools().add_operator(tool.fqn, parties.address("user"))
        await parties.tools("stranger").accept(NAME)
        with refused("not_operator"):
            await parties.tools("user").update(tool.fqn, price_mist=1)


async def test_a_seller_hoped_to_have_back_the_collateral_that_it_sold_with_the_name(
    parties, tool, attack, refused
):
    """It goes with the name: a buyer looks at what is locked, and whether its timer runs."""
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


async def test_an_owner_hoped_that_an_answer_fits_no_key_once_it_removed_it(
    parties, define, active_leader, attack
):
    """The invocation has the keys of the moment of its request: nobody works in vain."""
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


async def test_an_owner_hoped_that_answers_have_to_be_signed_by_now(
    parties, tool, active_leader, attack
):
    invocation = await parties.request(tool)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.tools().add_key(tool.fqn, b"\x02" * 32)
        await parties.tools().update(tool.fqn, requires_signed_outcome=True)
        await parties.settle(active_leader, invocation)
    assert played["leader"] > 0


async def test_an_owner_hoped_for_more_room_than_the_requester_saw(parties, tool, attack, refused):
    """It is prepaid, and comes back; but nobody prepays what it did not see."""
    async with attack("owner"):
        await parties.tools().update(tool.fqn, min_outcome_bytes=60_000)
        with refused("tool_changed"):
            await parties.request(tool, max_outcome_bytes=60_000)


async def test_an_owner_hoped_to_leave_with_prices_and_no_answers(
    parties, tool, active_leader, attack, refused
):
    """A price is paid for an answer: who is gone is paid for those that were given, no more."""
    settled, forgotten = await parties.request(tool), await parties.request(tool)
    async with attack("owner", {"owner": tool.price_mist}) as played:
        await parties.tools().unregister(tool.fqn)
        await parties.settle(active_leader, settled)
        parties.pass_windows()
        await parties.invocations().delete(forgotten)
        with refused("delay_not_over"):
            await parties.tools().claim(tool.fqn)
    assert played["owner"] < tool.price_mist


async def test_an_owner_hoped_to_list_a_leader_before_there_is_one(parties, tool, attack, refused):
    """The id of the next leader is known before; whoever registers it would be listed."""
    following = leader_id(parties.chain.deployment.leader_registry, 1)
    async with attack("owner"):
        with refused("unknown_leader"):
            await parties.tools().add_leader(tool.fqn, following)
        with refused("unknown_leader"):
            await parties.tools().add_leader(tool.fqn, Address.of(0xA1))


async def test_an_owner_hoped_for_a_key_with_which_anybody_signs(parties, tool, attack, refused):
    """So that it could say that an answer was somebody else's."""
    async with attack("owner"):
        with refused("public_key_invalid"):
            await parties.tools().add_key(tool.fqn, bytes(32))


async def test_an_owner_hoped_that_a_price_is_raised_behind_an_open_tool(
    parties, define, attack, refused
):
    """An open tool has no price: nobody who trusted that is asked for one."""
    tool = await parties.register_tool(define(), price_mist=0)
    async with attack("owner"):
        with refused("open_to_all"):
            await parties.tools().update(tool.fqn, price_mist=1)


async def test_no_rule_ends_that_an_owner_has_its_own_leader_invent_answers(
    parties, define, attack
):
    """Who names a leader that the owner of the tool runs pays for whatever they say.

    The limit of law 1: a price, each time, from who chose both of them.
    """
    own = await parties.register_leader("owner", "own")
    tool = await parties.register_tool(define(), own)
    async with attack("owner") as played:
        await parties.honest(tool, own, party="owner")
    assert played["owner"] > tool.price_mist
    assert played["user"] < -tool.price_mist
