"""What the owner of a tool, its operators and who bought its name may hope for."""

import pytest

from nexus_tools.registry import Registration
from nexus_tools.tool import ToolFqn

NAME = "xyz.example.math.add"
DAY_MS = 86_400_000


async def test_an_owner_hoped_to_raise_the_price_of_a_call_that_is_on_its_way(
    parties, tool, active_leader, told
):
    invocation = await parties.request(tool)
    await parties.tools().update(tool.fqn, price_mist=5 * tool.price_mist)
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    told(0)


async def test_an_owner_hoped_that_a_call_goes_elsewhere_than_the_requester_saw(
    parties, tool, told, refused
):
    await parties.tools().update(tool.fqn, url="https://elsewhere.example.com")
    async with parties.round() as played:
        with refused("tool_changed"):
            await parties.request(tool)  # as it was looked at before
    told(played["owner"])


async def test_an_owner_hoped_for_a_price_with_nothing_behind_it(parties, tool, told, refused):
    """What it could take and run away with is at most half of what it would lose."""
    with refused("price_too_high"):
        await parties.tools().update(tool.fqn, price_mist=500_000_001)
    told(0)


async def test_an_owner_hoped_to_leave_before_a_slash(parties, tool, told, refused):
    """What is proposed is held back; the rest is claimed on time."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    async with parties.round() as played:
        await tools.claim(tool.fqn)
        with refused("held_back"):
            await tools.claim(tool.fqn)
    assert 590_000_000 < played["owner"] < 600_000_000
    parties.pass_time(2 * DAY_MS)
    async with parties.round() as slashed:
        await admins.execute_slash(tool.fqn)
    assert slashed["owner"] == 0
    assert slashed["admin"] < 0
    told(0)


async def test_an_owner_hoped_to_lock_anew_to_be_rid_of_a_slash(parties, tool, told, refused):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(6 * DAY_MS)
    await admins.propose_slash(tool.fqn, 400_000_000, "answers that are wrong", bytes(32))
    parties.pass_time(1 * DAY_MS)
    await tools.claim(tool.fqn)
    with refused("not_claimed"):
        await tools.re_register(tool.fqn)
    told(0)


async def test_a_seller_hoped_to_keep_the_payouts_of_the_name_that_it_sold(
    parties, tool, active_leader, told
):
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    bought = await parties.tools().get(tool.fqn)
    async with parties.round() as played:
        await parties.settle(active_leader, await parties.request(bought))
    assert (played["owner"], played["admin"]) == (0, tool.price_mist)
    told(played["owner"])


async def test_a_seller_hoped_to_remain_an_operator(parties, tool, told, refused):
    tools = parties.tools()
    await tools.add_operator(tool.fqn, parties.address("user"))
    await tools.add_operator(tool.fqn, parties.address("owner"))
    await tools.offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    for former in ("owner", "user"):
        with refused("not_operator"):
            await parties.tools(former).update(tool.fqn, url="https://mine.example.com")
    told(0)


async def test_a_seller_hoped_to_answer_with_its_old_key(parties, define, active_leader, told):
    key = bytes(31) + b"\x01"
    tool = await parties.register_tool(define(), active_leader, keys=(key,))
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools("admin").accept(NAME)
    assert (await parties.tools().get(tool.fqn)).keys.keys == ()
    told(0)


async def test_a_buyer_hoped_to_accept_what_was_offered_to_another(parties, tool, told, refused):
    await parties.tools().offer(NAME, parties.address("admin"))
    with refused("not_offered"):
        await parties.tools("user").accept(NAME)
    told(0)


async def test_a_buyer_hoped_that_an_offer_that_was_taken_back_holds(parties, tool, told, refused):
    await parties.tools().offer(NAME, parties.address("admin"))
    await parties.tools().offer(NAME, None)
    with refused("not_offered"):
        await parties.tools("admin").accept(NAME)
    told(0)


async def test_an_operator_hoped_to_be_paid(parties, tool, told, refused):
    """Its key lies on a machine: whoever steals it sets URL, timeout and price, and no more."""
    await parties.tools().add_operator(tool.fqn, parties.address("user"))
    thief, address = parties.tools("user"), parties.address("user")
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
    told(0)


async def test_an_operator_hoped_to_open_a_priced_tool_to_all_leaders(
    parties, tool, active_leader, told, refused
):
    """With an empty list any leader could be named, and keep answers."""
    await parties.tools().add_operator(tool.fqn, parties.address("user"))
    with refused("leader_needed"):
        await parties.tools("user").remove_leader(tool.fqn, active_leader)
    told(0)


async def test_a_thief_hoped_to_act_with_a_name_of_its_own(parties, tool, define, told, refused):
    """The tool knows of which name it is a version."""
    from nexus_tools.package import name_id
    from nexus_tools.package.move import tool as calls

    own = ToolFqn.parse("xyz.example.math.mine@1")
    await parties.tools("user").register(Registration(define(str(own))))
    deployment = parties.chain.deployment
    name = name_id(deployment.tool_registry, own.unversioned)
    with refused("wrong_name"):
        await parties.tools("user").call(calls.unregister, tool.id, name)
    with refused("wrong_name"):
        await parties.tools("user").call(
            calls.update_payout, tool.id, name, deployment.tool_registry, parties.address("user")
        )
    told(0)


@pytest.mark.parametrize("version", [2, 4_294_967_295])
async def test_a_stranger_hoped_to_register_the_next_version_of_a_name(
    parties, tool, define, told, refused, version
):
    with refused("name_taken"):
        await parties.tools("user").register(Registration(define(f"{NAME}@{version}")))
    told(0)


async def test_a_squatter_hoped_to_hold_a_name_for_nothing(parties, define, told):
    """It cannot be kept from that: a name costs gas and storage, and the collateral comes back."""
    async with parties.round() as played:
        tools = parties.tools("user")
        await tools.register(Registration(define("com.google.search.web@1")))
        await tools.unregister("com.google.search.web@1")
        parties.pass_time(7 * DAY_MS)
        await tools.claim("com.google.search.web@1")
    assert -20_000_000 < played["user"] < -14_000_000
    told(played["user"], 0, "whoever would have had the name: tool proof tells")
