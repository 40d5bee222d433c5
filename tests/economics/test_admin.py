"""What the admin and the publisher of the package may hope for: they stand outside law 1."""

import dataclasses
from contextlib import suppress
from random import Random

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ports_of
from nexus_tools.errors import NexusError
from nexus_tools.registry import Administration, Registration, add_request
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import ToolFqn

DAY_MS = 86_400_000
REASON = ("answers that are wrong", bytes(32))


async def test_an_admin_hoped_to_take_a_collateral_to_itself(parties, tool, told, refused):
    """It burns at most half of it, three days after it said so, and pays the gas."""
    admins = parties.tools("admin")
    async with parties.round() as played:
        with refused("slash_too_large"):
            await admins.propose_slash(tool.fqn, 500_000_001, *REASON)
        await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
        with refused("not_due"):
            await admins.execute_slash(tool.fqn)
        parties.pass_time(3 * DAY_MS)
        await admins.execute_slash(tool.fqn)
        with refused("slash_too_large"):
            await admins.propose_slash(tool.fqn, 1, *REASON)
    assert played["admin"] < 0
    told(played["admin"], 500_000_000, "the owner")


async def test_an_admin_hoped_to_hold_a_collateral_for_ever_by_proposals(
    parties, tool, attack, refused
):
    """When the delay is over none can be proposed, and more than half is never held back."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    for _ in range(5):
        await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
        with refused("slash_pending"):
            await admins.propose_slash(tool.fqn, 1, *REASON)
        await admins.cancel_slash(tool.fqn)
    parties.pass_time(7 * DAY_MS)
    with refused("delay_over"):
        await admins.propose_slash(tool.fqn, 1, *REASON)
    async with attack("admin") as played:
        await tools.claim(tool.fqn)
    assert played["owner"] > 990_000_000


async def test_an_admin_hoped_that_a_proposal_it_forgets_holds_back(parties, tool, attack):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
    parties.pass_time(7 * DAY_MS)
    async with attack("admin") as played:
        await tools.claim(tool.fqn)
    assert played["owner"] > 990_000_000


async def test_an_admin_hoped_to_lock_everybody_in_by_settings(parties, tool, attack, refused):
    """Settings have bounds, and reach only what is registered afterwards."""
    admins = parties.tools("admin")
    settings = await admins.settings()
    with refused("invalid_settings"):
        await admins.configure(replace(settings, unregister_delay_ms=7 * DAY_MS + 1))
    await parties.tools().unregister(tool.fqn)
    await admins.configure(replace(settings, accepting=False, collateral_mist=10**12))
    parties.pass_time(7 * DAY_MS)
    async with attack("admin") as played:
        await parties.tools().claim(tool.fqn)
    assert played["owner"] > 990_000_000


async def test_an_admin_hoped_to_stop_what_is_requested(parties, tool, active_leader, told):
    invocation, forgotten = await parties.request(tool), await parties.request(tool)
    leaders = parties.leaders("admin")
    await leaders.configure(replace(await leaders.settings(), accepting=False))
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    parties.pass_windows()
    async with parties.round() as played:
        await parties.invocations().delete(forgotten)
    assert played["user"] > tool.price_mist
    told(0)


async def test_an_admin_hoped_to_raise_fees_between_the_look_and_the_request(
    parties, tool, attack, refused
):
    """A requester pays the exact sum, so what it did not see is not paid."""
    invocations = parties.invocations()
    seen_mist = await invocations.quote(tool, parties.INPUTS)
    leaders = parties.leaders("admin")
    settings = await leaders.settings()
    await leaders.configure(replace(settings, settle_margin_mist=10_000_000))
    async with attack("admin"):
        with refused("too_expensive"):
            await invocations.request(tool, parties.INPUTS, max_cost_mist=seen_mist)


async def test_an_admin_hoped_for_fees_without_bounds(parties, attack, refused):
    leaders = parties.leaders("admin")
    settings = await leaders.settings()
    async with attack("admin"):
        for beyond in (
            {"fee_gas_units": 10_001},
            {"fee_storage_mist": 10_000_001},
            {"settle_margin_mist": 10_000_001},
            {"fee_per_input_byte_mist": 100_001},
            {"fee_per_outcome_byte_mist": 100_001},
            {"grace_ms": 60_001},
            {"grace_ms": 4_999},
            {"collateral_mist": 99_999_999},
            {"collateral_mist": 1_000_000_000_001},
            {"unregister_delay_ms": 3_599_999},
        ):
            with refused("invalid_settings"):
                await leaders.configure(replace(settings, **beyond))


async def test_a_former_admin_hoped_to_go_on(parties, attack, refused):
    deployment = parties.chain.deployment
    await Administration(parties.clients["admin"], deployment).offer(parties.address("owner"))
    await Administration(parties.clients["owner"], deployment).accept()
    settings = await parties.tools().settings()
    async with attack("admin"):
        with refused("not_admin"):
            await parties.tools("admin").configure(settings)
    await parties.tools("owner").configure(settings)


@pytest.mark.parametrize("seed", range(8))
async def test_an_admin_and_a_publisher_hoped_that_some_order_locks_an_owner_in(
    parties, tool, attack, seed
):
    """An upgrade is proposed on day 0, and can be executed on day 14.

    Whoever unregisters by day 3 has all that is its own before that, in whatever order and however
    often the admin proposes and cancels slashes in the meantime: what could be held back until an
    upgrade comes would be the publisher's to take.
    """
    random, owners, admins = Random(seed), parties.tools(), parties.tools("admin")
    left_at = random.uniform(0, 3)
    moments = sorted({left_at, left_at + 7, 13.999, *(random.uniform(0, 13) for _ in range(6))})
    day = 0.0
    async with attack("admin") as played:
        for moment in moments:
            parties.pass_time(int((moment - day) * DAY_MS) + 1)
            day = moment
            if moment == left_at:
                await owners.unregister(tool.fqn)
            with suppress(NexusError):  # what is possible depends on the order
                await owners.claim(tool.fqn)
            with suppress(NexusError):
                await admins.cancel_slash(tool.fqn)
            with suppress(NexusError):
                await admins.propose_slash(tool.fqn, random.randint(1, 300_000_000), *REASON)
    assert (await owners.get(tool.fqn)).collateral.is_claimed
    assert played["owner"] > 990_000_000


async def test_an_admin_hoped_to_propose_once_more_when_the_delay_is_over(
    parties, tool, attack, refused
):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(7 * DAY_MS)
    async with attack("admin"):
        with refused("delay_over"):
            await admins.propose_slash(tool.fqn, 1, *REASON)


async def test_an_admin_hoped_to_shift_fees_so_that_a_refund_becomes_a_fee(
    parties, tool, attack, refused
):
    """The sum stays as it was, and more of it is for failing: so the revision is named, too."""
    leaders, user = parties.leaders("admin"), parties.invocations()
    settings = await leaders.settings()
    shifted = replace(
        settings,
        fee_storage_mist=settings.fee_storage_mist + 2_000_000,
        settle_margin_mist=settings.settle_margin_mist - 2_000_000,
    )
    leader = tool.leaders.entries
    seen = TransactionBuilder()
    cost_mist = await user.quote(tool, parties.INPUTS)
    terms = {"inputs": ports_of(parties.INPUTS), "max_outcome_bytes": 4_096}
    add_request(
        seen, parties.chain.deployment, settings, tool, leader, payment_mist=cost_mist, **terms
    )
    async with attack("admin"):
        await leaders.configure(shifted)
        assert await user.quote(tool, parties.INPUTS) == cost_mist
        with refused("settings_changed"):
            await user.send(seen)


async def test_an_admin_hoped_to_slash_again_and_again(parties, tool, told, refused):
    """Half in all, in however many slashes, until its owner brings it back of its own will."""
    admins = parties.tools("admin")
    async with parties.round() as played:
        for _ in range(5):
            await admins.propose_slash(tool.fqn, 100_000_000, *REASON)
            parties.pass_time(3 * DAY_MS)
            await admins.execute_slash(tool.fqn)
        with refused("slash_too_large"):
            await admins.propose_slash(tool.fqn, 1, *REASON)
    left_mist = (await admins.get(tool.fqn)).collateral.balance_mist
    assert left_mist == 500_000_000
    told(played["admin"], 10**9 - left_mist, "the owner")


async def test_an_admin_hoped_to_hold_a_slash_over_an_owner_for_ever(
    parties, tool, attack, refused
):
    admins = parties.tools("admin")
    await admins.propose_slash(tool.fqn, 1, *REASON)
    async with attack("admin"):
        parties.pass_time(4 * DAY_MS)
        with refused("no_slash_pending"):
            await admins.execute_slash(tool.fqn)


async def test_an_admin_hoped_to_execute_one_slash_twice(parties, tool, told, refused):
    admins = parties.tools("admin")
    await admins.propose_slash(tool.fqn, 100_000_000, *REASON)
    parties.pass_time(3 * DAY_MS)
    async with parties.round() as played:
        await admins.execute_slash(tool.fqn)
        with refused("no_slash_pending"):
            await admins.execute_slash(tool.fqn)
    left_mist = (await admins.get(tool.fqn)).collateral.balance_mist
    assert left_mist == 900_000_000
    told(played["admin"], 10**9 - left_mist, "the owner")


async def test_an_admin_hoped_to_slash_what_comes_back_by_an_old_proposal(
    parties, tool, attack, refused
):
    """All that was proposed against a collateral ends when it is claimed."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(5 * DAY_MS)
    await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
    parties.pass_time(4 * DAY_MS)
    await tools.claim(tool.fqn)
    await tools.re_register(tool.fqn)
    async with attack("admin"):
        with refused("no_slash_pending"):
            await admins.execute_slash(tool.fqn)


async def test_an_admin_hoped_to_slash_without_saying_why(parties, tool, attack, refused):
    admins = parties.tools("admin")
    async with attack("admin"):
        with refused("wrong_slash"):
            await admins.propose_slash(tool.fqn, 0, *REASON)
        with refused("invalid_reason"):
            await admins.propose_slash(tool.fqn, 1, "", bytes(32))
        with refused("invalid_evidence"):
            await admins.propose_slash(tool.fqn, 1, "because", b"")


async def test_an_admin_hoped_for_a_longer_delay_than_an_owner_agreed_to(
    parties, define, attack, refused
):
    """The owner consents to the delay and the collateral as it saw them."""
    admins, tools = parties.tools("admin"), parties.tools()
    settings = await admins.settings()
    hour_ms = 3_600_000
    await admins.configure(replace(settings, unregister_delay_ms=hour_ms))
    wanted = Registration(define(), collateral_mist=10**9, max_delay_ms=hour_ms)
    async with attack("admin"):
        await admins.configure(replace(settings, unregister_delay_ms=7 * DAY_MS))
        with refused("delay_too_long"):
            await tools.register(wanted)


async def test_an_admin_hoped_to_change_terms_of_what_is_locked(parties, tool, attack):
    admins, tools = parties.tools("admin"), parties.tools()
    settings = await admins.settings()
    hour_ms = 3_600_000
    await admins.configure(replace(settings, unregister_delay_ms=hour_ms))
    await tools.register(Registration(define_second(tool)))
    second = "xyz.example.math.add@2"
    async with attack("admin"):
        await admins.configure(replace(settings, collateral_mist=10**12))
    await tools.unregister(second)
    parties.pass_time(hour_ms)
    async with parties.round() as played:
        await tools.claim(second)
    assert played["owner"] > 990_000_000


def define_second(tool):
    """The definition of a tool as the next version of its name."""
    return dataclasses.replace(tool.definition.parse(), fqn=ToolFqn.parse("xyz.example.math.add@2"))
