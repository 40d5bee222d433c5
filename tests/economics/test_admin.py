"""What the admin and the publisher of the package may hope for: they stand outside law 1."""

from contextlib import suppress
from random import Random

import pytest
from msgspec.structs import replace

from nexus_tools.errors import NexusError

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
    parties, tool, told, refused
):
    """All proposals together, cancelled ones too, come to half of what was locked."""
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    for _ in range(5):
        await admins.propose_slash(tool.fqn, 100_000_000, *REASON)
        await admins.cancel_slash(tool.fqn)
    with refused("slash_too_large"):
        await admins.propose_slash(tool.fqn, 1, *REASON)
    parties.pass_time(7 * DAY_MS)
    async with parties.round() as played:
        await tools.claim(tool.fqn)
    assert played["owner"] > 990_000_000
    told(0)


async def test_an_admin_hoped_that_a_proposal_it_forgets_holds_back(parties, tool, told):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    await admins.propose_slash(tool.fqn, 500_000_000, *REASON)
    parties.pass_time(7 * DAY_MS)
    async with parties.round() as played:
        await tools.claim(tool.fqn)
    assert played["owner"] > 990_000_000
    told(0)


async def test_an_admin_hoped_to_lock_everybody_in_by_settings(parties, tool, told, refused):
    """Settings have bounds, and reach only what is registered afterwards."""
    admins = parties.tools("admin")
    settings = await admins.settings()
    with refused("invalid_settings"):
        await admins.configure(replace(settings, unregister_delay_ms=7 * DAY_MS + 1))
    await parties.tools().unregister(tool.fqn)
    await admins.configure(replace(settings, accepting=False, collateral_mist=10**12))
    parties.pass_time(7 * DAY_MS)
    async with parties.round() as played:
        await parties.tools().claim(tool.fqn)
    assert played["owner"] > 990_000_000
    told(0)


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
    parties, tool, told, refused
):
    """A requester pays the exact sum, so what it did not see is not paid."""
    invocations = parties.invocations()
    seen_mist = await invocations.quote(tool, parties.INPUTS)
    leaders = parties.leaders("admin")
    settings = await leaders.settings()
    await leaders.configure(replace(settings, settle_margin_mist=10_000_000))
    with refused("too_expensive"):
        await invocations.request(tool, parties.INPUTS, max_cost_mist=seen_mist)
    told(0)


async def test_an_admin_hoped_for_fees_without_bounds(parties, told, refused):
    leaders = parties.leaders("admin")
    settings = await leaders.settings()
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
    told(0)


async def test_a_former_admin_hoped_to_go_on(parties, told, refused):
    from nexus_tools.package.move import admin as calls

    deployment = parties.chain.deployment
    await parties.tools("admin").call(calls.offer, deployment.admin, parties.address("owner"))
    await parties.tools("owner").call(calls.accept, deployment.admin)
    settings = await parties.tools().settings()
    with refused("not_admin"):
        await parties.tools("admin").configure(settings)
    await parties.tools("owner").configure(settings)
    told(0)


@pytest.mark.parametrize("seed", range(8))
async def test_an_admin_and_a_publisher_hoped_that_some_order_locks_an_owner_in(
    parties, tool, told, seed
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
    async with parties.round() as played:
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
    told(0)


async def test_an_admin_hoped_to_propose_once_more_when_the_delay_is_over(
    parties, tool, told, refused
):
    admins, tools = parties.tools("admin"), parties.tools()
    await tools.unregister(tool.fqn)
    parties.pass_time(7 * DAY_MS)
    with refused("delay_over"):
        await admins.propose_slash(tool.fqn, 1, *REASON)
    told(0)
