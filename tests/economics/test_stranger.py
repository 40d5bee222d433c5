"""Attacks by an account that was not chosen. Law 2: it costs no one more than itself."""

import pytest

from nexus_tools.contracts.move_bindings import invocation as invocations
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.errors import NexusError
from nexus_tools.registry import Administration, Registration
from nexus_tools.sui.transaction_builder import TransactionBuilder

NAME = "xyz.example.math.add"
DAY_MS = 86_400_000
OTHERS = ("admin", "owner", "leader", "user")


def nothing_happened(played):
    return {played[party] for party in OTHERS} == {0}


async def test_another_account_has_no_rights_of_owner_or_admin(
    parties, tool, active_leader, attack, refused
):
    """Every operation of an owner and of the admin, tried by another account."""
    tools, leaders, address = (
        parties.tools("stranger"),
        parties.leaders("stranger"),
        parties.address("stranger"),
    )
    fqn, evidence = tool.fqn, bytes(32)
    async with attack("stranger") as played:
        for attempt in (
            tools.unregister(fqn),
            tools.cancel_unregister(fqn),
            tools.claim(fqn),
            tools.re_register(fqn),
            tools.top_up(fqn),
            tools.update(fqn, payout=address),
            tools.add_leader(fqn, active_leader),
            tools.accept_any_leader(fqn),
            tools.add_operator(fqn, address),
            tools.remove_operator(fqn, address),
            tools.add_key(fqn, b"\x02" * 32),
            tools.remove_key(fqn, b"\x02" * 32),
            tools.offer(NAME, address),
            leaders.activate(active_leader),
            leaders.deactivate(active_leader),
            leaders.unregister(active_leader),
            leaders.cancel_unregister(active_leader),
            leaders.claim(active_leader),
            leaders.re_register(active_leader),
            leaders.top_up(active_leader),
            leaders.add_worker(active_leader, address),
            leaders.remove_worker(active_leader, address),
            leaders.add_key(active_leader, b"\x02" * 32),
            leaders.remove_key(active_leader, b"\x02" * 32),
            leaders.offer(active_leader, address),
        ):
            with refused("not_owner"):
                await attempt
        for attempt in (
            tools.propose_slash(fqn, 1, "mine", evidence),
            tools.execute_slash(fqn),
            tools.cancel_slash(fqn),
            leaders.propose_slash(active_leader, 1, "mine", evidence),
            leaders.execute_slash(active_leader),
            leaders.cancel_slash(active_leader),
        ):
            with refused("not_admin"):
                await attempt
        for attempt in (
            tools.update(fqn, price_mist=0),
            tools.remove_leader(fqn, active_leader),
        ):
            with refused("not_operator"):
                await attempt
    assert nothing_happened(played)


async def test_chain_checks_as_much_as_the_client(parties, tool, active_leader, attack, refused):
    """The same operations without the checks of our client."""
    address = parties.address("stranger")
    registry = parties.chain.deployment.tool_registry
    by_owner = (tool.id, tool.name, registry)
    verbs = parties.tools("stranger")
    async with attack("stranger") as played:
        for call, *arguments in (
            (calls.unregister, tool.id, tool.name),
            (calls.claim, tool.id, tool.name),
            (calls.update_payout, *by_owner, address),
            (calls.accept_any_leader, *by_owner),
            (calls.add_leader, *by_owner, active_leader),
            (calls.add_operator, *by_owner, address),
            (calls.add_key, *by_owner, bytes(32)),
            (calls.take_over, *by_owner, ()),
        ):
            with refused("not_owner"):
                await verbs.call(call, *arguments)
    assert nothing_happened(played)


@pytest.mark.parametrize("version", [2, 4_294_967_295])
async def test_another_account_cannot_register_the_next_version_of_a_name(
    parties, tool, define, attack, refused, version
):
    async with attack("stranger") as played:
        with refused("name_taken"):
            await parties.tools("stranger").register(Registration(define(f"{NAME}@{version}")))
    assert nothing_happened(played)


async def test_another_account_cannot_accept_an_offer(
    parties, tool, active_leader, attack, refused
):
    admins = Administration(parties.clients["admin"], parties.chain.deployment)
    await parties.tools().offer(NAME, parties.address("user"))
    await parties.leaders().offer(active_leader, parties.address("user"))
    await admins.offer(parties.address("user"))
    async with attack("stranger") as played:
        for attempt in (
            parties.tools("stranger").accept(NAME),
            parties.leaders("stranger").accept(active_leader),
            Administration(parties.clients["stranger"], parties.chain.deployment).accept(),
        ):
            with refused("not_offered"):
                await attempt
    assert nothing_happened(played)


async def test_another_account_cannot_end_a_pending_invocation(
    parties, tool, active_leader, attack, refused
):
    honest = await parties.honest(tool, active_leader)
    async with attack("stranger", {"owner": honest["owner"], "user": honest["user"]}) as played:
        invocation = await parties.request(tool)
        with refused("not_expired"):
            await parties.invocations("stranger").expire(invocation)
        with refused("not_requester"):
            await parties.invocations("stranger").call(invocations.delete, invocation)
        await parties.settle(active_leader, invocation)
        await parties.invocations().delete(invocation)
    assert played["stranger"] == 0


async def test_another_account_gains_nothing_by_expiring_an_invocation(parties, tool, attack):
    """It pays the gas, and the requester gets its refund earlier."""
    invocation = await parties.request(tool)
    parties.pass_windows()
    async with attack("stranger") as played:
        await parties.invocations("stranger").expire(invocation)
    assert played["stranger"] < 0
    assert played["user"] > tool.price_mist


async def test_dust_payments_do_not_delay_closings(parties, tool, active_leader, attack):
    """Payments create no objects that would have to be merged."""
    await parties.honest(tool, active_leader)
    honest = await parties.honest(tool, active_leader)
    async with attack("stranger", honest) as played:
        for party in ("owner", "leader"):
            builder = TransactionBuilder()
            coins = builder.split_coins(builder.gas, [1] * 50)
            for coin in coins:
                builder.transfer_objects([coin], parties.address(party))
            await parties.clients["stranger"].execute(builder)
        await parties.honest(tool, active_leader)
    assert played["stranger"] < -50_000_000  # the storage of a hundred coins
    assert played["owner"] == tool.price_mist + 50
    assert played["leader"] == honest["leader"] + 50


async def test_leaders_of_an_attacker_do_not_delay_others(parties, tool, active_leader, attack):
    """Leaders are never drawn at random, so an unnamed leader is never called."""
    honest = await parties.honest(tool, active_leader)
    for number in range(3):
        await parties.register_leader("stranger", f"idle {number}")
    async with attack("stranger", {"user": honest["user"]}) as played:
        await parties.honest(tool, active_leader)
    assert played["owner"] == tool.price_mist
    assert played["stranger"] == 0


async def test_price_is_not_paid_to_the_sender_of_the_answer(
    parties, tool, active_leader, attack, refused
):
    invocation = await parties.request(tool)
    own = await parties.register_leader("stranger", "own")
    async with attack("stranger") as played:
        for leader, code in ((own, "not_responsible"), (active_leader, "not_worker")):
            with refused(code):
                await parties.settle(leader, invocation, party="stranger")
            with refused(code):
                await parties.fail(leader, invocation, party="stranger")
    assert nothing_happened(played)


async def test_invalid_closing_fails_only_its_own_batch(parties, tool, active_leader, attack):
    """Its own batch is refused completely; other batches are not affected."""
    invocation = await parties.request(tool)
    async with attack("stranger", {"owner": tool.price_mist}) as played:
        with pytest.raises(NexusError):
            await parties.settle(active_leader, invocation, party="stranger")
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist


async def test_squatter_can_hold_a_name_only_at_a_cost(parties, define, attack):
    """This cannot be prevented: a name costs gas and storage, and the collateral is refunded.

    Clients check whether the domain confirms the owner, for example with `tool show`.
    """
    async with attack("stranger") as played:
        tools = parties.tools("stranger")
        await tools.register(Registration(define("com.google.search.web@1")))
        await tools.unregister("com.google.search.web@1")
        parties.pass_time(7 * DAY_MS)
        await tools.claim("com.google.search.web@1")
    assert -20_000_000 < played["stranger"] < -14_000_000
