"""Attacks by the admin and the publisher of the package, whom law 1 does not cover."""

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


async def test_admin_cannot_take_a_collateral(parties, tool, told, refused):
    """It burns at most half of it, three days after the proposal, and pays the gas."""
    admins = parties.tools("admin")
    async with parties.round() as played:
        with refused("slash_too_large"):
            await admins.propose_slash(tool.fqn, 500_000_001, *REASON)
        await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
        with refused("slash_not_due"):
            await admins.execute_slash(tool.fqn)
        parties.pass_time(3 * DAY_MS)
        await admins.execute_slash(tool.fqn)
        with refused("slash_too_large"):
            await admins.propose_slash(tool.fqn, 1, *REASON)
    assert played["admin"] < 0
    told(played["admin"], 500_000_000, "the owner")


async def test_admin_cannot_lock_a_collateral_forever_by_proposals(parties, tool, attack, refused):
    """After the delay no slash can be proposed, and at most half is ever locked."""
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


async def test_forgotten_proposal_of_the_admin_locks_nothing(parties, tool, attack):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
    parties.pass_time(7 * DAY_MS)
    async with attack("admin") as played:
        await tools.claim(tool.fqn)
    assert played["owner"] > 990_000_000


async def test_admin_cannot_lock_in_owners_by_settings(parties, tool, attack, refused):
    """Settings are limited, and apply only to later registrations."""
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


async def test_admin_cannot_stop_pending_requests(parties, tool, active_leader, told):
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


async def test_admin_cannot_raise_fees_after_the_requester_saw_them(parties, tool, attack, refused):
    """A requester pays at most the amount that it saw."""
    invocations = parties.invocations()
    seen_mist = await invocations.quote(tool, parties.INPUTS)
    leaders = parties.leaders("admin")
    settings = await leaders.settings()
    await leaders.configure(replace(settings, settle_margin_mist=10_000_000))
    async with attack("admin"):
        with refused("too_expensive"):
            await invocations.request(tool, parties.INPUTS, max_cost_mist=seen_mist)


async def test_admin_cannot_set_unlimited_fees(parties, attack, refused):
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


async def test_former_admin_loses_its_rights(parties, attack, refused):
    deployment = parties.chain.deployment
    await Administration(parties.clients["admin"], deployment).offer(parties.address("owner"))
    await Administration(parties.clients["owner"], deployment).accept()
    settings = await parties.tools().settings()
    async with attack("admin"):
        with refused("not_admin"):
            await parties.tools("admin").configure(settings)
    await parties.tools("owner").configure(settings)


@pytest.mark.parametrize("seed", range(8))
async def test_admin_and_publisher_cannot_lock_in_an_owner_by_any_order_of_actions(
    parties, tool, attack, seed
):
    """An upgrade is proposed on day 0, and can be executed on day 14.

    An owner that unregisters by day 3 gets everything back before that. The order and the number of
    slashes that the admin proposes and cancels in the meantime do not matter. If collateral could
    be locked until the upgrade, the publisher could take it.
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
            with suppress(NexusError):  # the order determines which calls succeed
                await owners.claim(tool.fqn)
            with suppress(NexusError):
                await admins.cancel_slash(tool.fqn)
            with suppress(NexusError):
                await admins.propose_slash(tool.fqn, random.randint(1, 300_000_000), *REASON)
    assert (await owners.get(tool.fqn)).collateral.is_claimed
    assert played["owner"] > 990_000_000


async def test_admin_cannot_propose_again_after_the_delay(parties, tool, attack, refused):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(7 * DAY_MS)
    async with attack("admin"):
        with refused("delay_over"):
            await admins.propose_slash(tool.fqn, 1, *REASON)


async def test_admin_cannot_turn_a_refund_into_a_fee(parties, tool, attack, refused):
    """The total stays the same with a larger part for failing, so requests name the revision."""
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


async def test_admin_cannot_slash_more_than_half_in_total(parties, tool, told, refused):
    """The limit is half in total, over all slashes, until the owner tops it up voluntarily."""
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


async def test_admin_cannot_keep_a_slash_pending_forever(parties, tool, attack, refused):
    admins = parties.tools("admin")
    await admins.propose_slash(tool.fqn, 1, *REASON)
    async with attack("admin"):
        parties.pass_time(4 * DAY_MS)
        with refused("no_slash_pending"):
            await admins.execute_slash(tool.fqn)


async def test_admin_cannot_execute_a_slash_twice(parties, tool, told, refused):
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


async def test_admin_cannot_slash_a_new_collateral_with_an_old_proposal(
    parties, tool, attack, refused
):
    """All proposals against a collateral end when it is claimed."""
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


async def test_admin_cannot_slash_without_a_reason(parties, tool, attack, refused):
    admins = parties.tools("admin")
    async with attack("admin"):
        with refused("invalid_slash_amount"):
            await admins.propose_slash(tool.fqn, 0, *REASON)
        with refused("invalid_reason"):
            await admins.propose_slash(tool.fqn, 1, "", bytes(32))
        with refused("invalid_evidence"):
            await admins.propose_slash(tool.fqn, 1, "because", b"")


async def test_admin_cannot_impose_a_longer_delay_than_the_owner_accepted(
    parties, define, attack, refused
):
    """The owner accepts the delay and the collateral that it saw."""
    admins, tools = parties.tools("admin"), parties.tools()
    settings = await admins.settings()
    hour_ms = 3_600_000
    await admins.configure(replace(settings, unregister_delay_ms=hour_ms))
    wanted = Registration(define(), collateral_mist=10**9, max_delay_ms=hour_ms)
    async with attack("admin"):
        await admins.configure(replace(settings, unregister_delay_ms=7 * DAY_MS))
        with refused("delay_too_long"):
            await tools.register(wanted)


async def test_admin_cannot_change_terms_of_locked_collateral(parties, tool, attack):
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
    """Return the definition of a tool as the next version of its name."""
    return dataclasses.replace(tool.definition.parse(), fqn=ToolFqn.parse("xyz.example.math.add@2"))
