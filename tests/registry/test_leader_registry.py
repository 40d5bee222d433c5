import pytest
from msgspec.structs import replace

from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    NotNowError,
    ValidationError,
)
from nexus_tools.package import move as calls
from nexus_tools.package import responsible
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import vector
from nexus_tools.sui.builder import TransactionBuilder

SUI = 1_000_000_000
DAY = 86_400_000
EVIDENCE = bytes(range(32))


@pytest.fixture
def registry(leader, chain):
    return LeaderRegistry(leader, chain.deployment)


@pytest.fixture
def admins(admin, chain):
    return LeaderRegistry(admin, chain.deployment)


@pytest.fixture
async def cap(registry):
    """The id of a leader that is active."""
    _, cap = await registry.register("first", activate=True)
    return cap


async def test_a_leader_locks_its_collateral_and_is_found_by_its_cap(registry, leader):
    before = await leader.balance(leader.address)
    sent, cap = await registry.register("first")
    assert await leader.balance(leader.address) == before - 10 * SUI - sent.cost.net
    found = await registry.get(cap)
    assert (found.record.name, found.active) == ("first", False)
    assert (found.record.collateral.balance_mist, found.record.collateral.delay_ms) == (
        10 * SUI,
        7 * DAY,
    )
    assert await registry.caps() == (cap,)


async def test_a_leader_is_active_as_long_as_it_wants(registry, cap):
    assert (await registry.state()).active == (cap,)
    await registry.deactivate(cap)
    assert (await registry.state()).active == ()
    await registry.activate(cap)
    assert (await registry.get(cap)).active


async def test_the_collateral_is_claimed_when_the_delay_is_over_and_the_leader_ends(
    registry, cap, leader, chain
):
    await registry.unregister(cap)
    assert not (await registry.get(cap)).active
    with pytest.raises(NotNowError) as caught:
        await registry.claim(cap)
    assert caught.value.code == "delay_not_over"
    chain.net.advance_clock(7 * DAY)
    before = await leader.balance(leader.address)
    sent = await registry.claim(cap)
    assert await leader.balance(leader.address) == before + 10 * SUI - sent.cost.net
    with pytest.raises(NotFoundError) as gone:
        await registry.get(cap)
    assert gone.value.code == "unknown_leader"
    assert await registry.caps() == ()


async def test_a_leader_with_a_pending_slash_ends_with_its_second_claim(
    registry, admins, cap, chain
):
    await registry.unregister(cap)
    chain.net.advance_clock(7 * DAY)
    await admins.propose_slash(cap, 4 * SUI, "it lies", EVIDENCE)
    await registry.claim(cap)
    assert (await registry.get(cap)).record.collateral.balance_mist == 4 * SUI
    with pytest.raises(NotNowError) as caught:
        await registry.claim(cap)
    assert caught.value.code == "held_back"
    await admins.cancel_slash(cap)
    await registry.claim(cap)
    assert await registry.caps() == ()


async def test_an_active_leader_claims_nothing(registry, cap):
    with pytest.raises(NotNowError) as caught:
        await registry.claim(cap)
    assert caught.value.code == "not_unregistered"


async def test_a_cancelled_unregistration_leaves_the_leader_inactive(registry, cap):
    await registry.unregister(cap)
    await registry.cancel_unregister(cap)
    found = await registry.get(cap)
    assert (found.active, found.record.collateral.unregistered_at_ms) == (False, None)


async def test_a_suspended_leader_is_inactive_until_it_tops_up(registry, admins, cap, chain):
    await admins.propose_slash(cap, SUI, "it lies", EVIDENCE)
    assert (await registry.get(cap)).active
    chain.net.advance_clock(3 * DAY)
    await admins.execute_slash(cap)
    assert not (await registry.get(cap)).active
    with pytest.raises(NotNowError) as caught:
        await registry.activate(cap)
    assert caught.value.code == "not_in_force"
    await registry.top_up(cap)
    await registry.activate(cap)
    assert (await registry.get(cap)).record.collateral.is_whole


async def test_whole_collateral_needs_no_top_up(registry, cap):
    with pytest.raises(NotNowError) as caught:
        await registry.top_up(cap)
    assert caught.value.code == "nothing_to_top_up"


async def test_only_admitted_addresses_register(registry, admins, leader, admin):
    await admins.admit([admin.address])
    with pytest.raises(NotAllowedError) as caught:
        await registry.register("first")
    assert caught.value.code == "not_admitted"
    await admins.admit([admin.address, leader.address])
    await registry.register("first")
    await admins.admit(None)
    assert (await registry.state()).admitted is None


async def test_settings_are_read_back_as_they_were_set(registry, admins):
    changed = {"collateral_mist": SUI, "grace_ms": 5_000, "max_ports_bytes": 9}
    settings = replace(await admins.settings(), **changed)
    await admins.configure(settings)
    assert await registry.settings() == settings


async def test_a_failure_must_not_pay_better_than_an_outcome(admins):
    settings = await admins.settings()
    with pytest.raises(ValidationError) as caught:
        await admins.configure(replace(settings, fail_fee_mist=settings.settle_fee_mist + 1))
    assert caught.value.code == "invalid_settings"


async def test_python_and_move_choose_the_same_leaders(registry, leader, chain):
    keys = [b"", b"key", bytes(32), bytes(range(64))]
    for _ in range(3):
        await registry.register("another", activate=True)
        active = (await registry.state()).active
        builder = TransactionBuilder()
        where = chain.deployment.package, chain.deployment.leader_registry
        for key in keys:
            calls.leader_registry.responsible(builder, *where, key)
        chosen = [values[0] for values in (await leader.inspect(builder)).results]
        assert [vector(ADDRESS).decode(ids) for ids in chosen] == [
            responsible(key, active) for key in keys
        ]


async def test_activity_is_what_the_view_says(leader, chain, cap):
    builder = TransactionBuilder()
    where = chain.deployment.package, chain.deployment.leader_registry
    calls.leader_registry.is_active(builder, *where, cap)
    calls.leader_registry.is_active(builder, *where, Address.of(5))
    assert (await leader.inspect(builder)).results == ((b"\x01",), (b"\x00",))
