"""Leaders: their collateral, activity, workers and keys."""

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import LeaderState, leader_id, parse_event
from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings.collateral import CollateralLocked
from nexus_tools.contracts.move_bindings.leader import LeaderActivityChanged, LeaderRegistered
from nexus_tools.errors import NotAllowedError, NotFoundError, ValidationError, WrongStateError
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.client import SimulatedTransaction
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

SUI = 1_000_000_000
DAY = 86_400_000
EVIDENCE = bytes(range(32))


async def claimed(leaders, chain, leader):
    await leaders.unregister(leader)
    chain.net.advance_clock(7 * DAY)
    return await leaders.claim(leader)


# --- Registration


async def test_register_locks_collateral_and_uses_next_id(leaders, leader, chain):
    before = await leader.balance(leader.address)
    sent, first = await leaders.register("first")
    assert await leader.balance(leader.address) == before - 10 * SUI - sent.cost.net
    found = await leaders.get(first)
    assert (found.name, found.state) == ("first", LeaderState.INACTIVE)
    assert (found.collateral.balance_mist, found.collateral.delay_ms) == (10 * SUI, 7 * DAY)
    _, second = await leaders.register("second")
    registry = chain.deployment.leader_registry
    assert (first, second) == (leader_id(registry, 0), leader_id(registry, 1))
    assert [entry.index for entry in (await leaders.list()).items] == [1, 0]


async def test_register_emits_event(leaders, leader, chain):
    sent, place = await leaders.register("first", activate=True)
    registered, locked, activity = [parse_event(chain.deployment, event) for event in sent.events]
    assert isinstance(registered, LeaderRegistered)
    assert (registered.owner, registered.workers) == (leader.address, (leader.address,))
    assert isinstance(locked, CollateralLocked)
    assert (locked.object, locked.amount_mist, locked.delay_ms) == (place, 10 * SUI, 7 * DAY)
    assert activity == LeaderActivityChanged(place, True)


async def test_register_sets_workers_and_keys(leaders, user, owner):
    workers = (user.address, owner.address)
    _, place = await leaders.register("first", workers=workers, keys=[EVIDENCE])
    registered = await leaders.get(place)
    assert (registered.workers.entries, registered.keys.keys) == (workers, (EVIDENCE,))


async def test_leaders_are_found_by_owner_and_worker(leaders, leader, user, chain):
    _, run_by_owner = await leaders.register("mine")
    _, run_by_user = await leaders.register("theirs", workers=[user.address])
    assert [entry.id for entry in await leaders.owned_by()] == [run_by_owner, run_by_user]
    assert [entry.id for entry in await leaders.worked_by()] == [run_by_owner]
    users = LeaderRegistry(user, chain.deployment)
    assert await users.owned_by() == ()
    assert [entry.id for entry in await users.worked_by()] == [run_by_user]
    assert [entry.id for entry in await users.worked_by(leader.address)] == [run_by_owner]


async def test_register_accepts_more_but_not_less_collateral(leaders):
    _, place = await leaders.register("rich", collateral_mist=11 * SUI)
    assert (await leaders.get(place)).collateral.required_mist == 11 * SUI
    with pytest.raises(ValidationError) as caught:
        await leaders.register("poor", collateral_mist=10 * SUI - 1)
    assert caught.value.code == "collateral_too_small"


async def test_register_fails_for_longer_delay_than_accepted(leaders):
    with pytest.raises(WrongStateError) as caught:
        await leaders.register("first", max_delay_ms=7 * DAY - 1)
    assert caught.value.code == "delay_too_long"


async def test_register_fails_if_registry_is_not_accepting(leaders, leader_admins):
    settings = await leaders.settings()
    await leader_admins.configure(replace(settings, accepting=False))
    with pytest.raises(WrongStateError) as caught:
        await leaders.register("late")
    assert caught.value.code == "not_accepting"


async def test_register_fails_after_a_concurrent_registration(leaders):
    length = (await leaders.state()).length
    await leaders.register("first", expected_length=length)
    with pytest.raises(WrongStateError) as refused:
        await leaders.register("first", expected_length=length)
    assert refused.value.code == "leaders_changed"
    assert [entry.name for entry in (await leaders.list()).items] == ["first"]


async def test_dry_run_registers_nothing(leaders):
    sent, _ = await leaders.dry_run_client().register("first")
    assert isinstance(sent, SimulatedTransaction)
    assert (await leaders.list()).items == ()


async def test_get_fails_for_unknown_leader(leaders):
    with pytest.raises(NotFoundError) as caught:
        await leaders.get(Address.of(0xDEAD))
    assert caught.value.code == "leader_unknown"


# --- Activity and unregistration


async def test_owner_activates_and_deactivates_leader(leaders, active_leader):
    assert (await leaders.get(active_leader)).is_active
    await leaders.deactivate(active_leader)
    assert (await leaders.get(active_leader)).state is LeaderState.INACTIVE
    with pytest.raises(WrongStateError) as caught:
        await leaders.deactivate(active_leader)
    assert caught.value.code == "not_active"
    await leaders.activate(active_leader)
    with pytest.raises(WrongStateError) as caught:
        await leaders.activate(active_leader)
    assert caught.value.code == "already_active"


async def test_claim_pays_collateral_after_the_delay(leaders, active_leader, leader, chain):
    await leaders.unregister(active_leader)
    assert (await leaders.get(active_leader)).state is LeaderState.UNREGISTERED
    with pytest.raises(WrongStateError, match="claimable at") as caught:
        await leaders.claim(active_leader)
    assert caught.value.code == "delay_not_over"
    chain.net.advance_clock(7 * DAY)
    before = await leader.balance(leader.address)
    sent = await leaders.claim(active_leader)
    assert await leader.balance(leader.address) == before + 10 * SUI - sent.cost.net
    assert sent.created_of("coin", "Coin") == ()
    assert (await leaders.get(active_leader)).state is LeaderState.CLAIMED


async def test_re_register_keeps_id_and_locks_new_collateral(
    leaders, leader_admins, active_leader, chain
):
    await claimed(leaders, chain, active_leader)
    with pytest.raises(WrongStateError) as caught:
        await leaders.unregister(active_leader)
    assert caught.value.code == "already_claimed"
    settings = await leaders.settings()
    await leader_admins.configure(replace(settings, collateral_mist=12 * SUI))
    await leaders.re_register(active_leader)
    current = await leaders.get(active_leader)
    assert (current.is_active, current.collateral.required_mist) == (True, 12 * SUI)


async def test_re_register_fails_for_longer_delay_than_accepted(
    leaders, leader_admins, active_leader, chain
):
    with pytest.raises(WrongStateError) as caught:
        await leaders.re_register(active_leader)
    assert caught.value.code == "not_claimed"
    await claimed(leaders, chain, active_leader)
    with pytest.raises(WrongStateError) as caught:
        await leaders.re_register(active_leader, max_delay_ms=7 * DAY - 1)
    assert caught.value.code == "delay_too_long"
    await leaders.re_register(active_leader, max_delay_ms=7 * DAY, collateral_mist=20 * SUI)
    assert (await leaders.get(active_leader)).collateral.required_mist == 20 * SUI


async def test_second_claim_pays_amount_of_pending_slash(
    leaders, leader_admins, active_leader, chain
):
    await leaders.unregister(active_leader)
    chain.net.advance_clock(6 * DAY)
    await leader_admins.propose_slash(active_leader, 4 * SUI, "it lies", EVIDENCE)
    chain.net.advance_clock(DAY)
    await leaders.claim(active_leader)
    assert (await leaders.get(active_leader)).collateral.balance_mist == 4 * SUI
    with pytest.raises(WrongStateError) as caught:
        await leaders.claim(active_leader)
    assert caught.value.code == "locked_for_slash"
    await leader_admins.cancel_slash(active_leader)
    await leaders.claim(active_leader)
    assert (await leaders.get(active_leader)).state is LeaderState.CLAIMED


async def test_claim_fails_for_active_leader(leaders, active_leader):
    with pytest.raises(WrongStateError) as caught:
        await leaders.claim(active_leader)
    assert caught.value.code == "not_unregistered"


async def test_cancel_unregister_restores_the_leader(leaders, active_leader):
    before = await leaders.get(active_leader)
    await leaders.unregister(active_leader)
    await leaders.cancel_unregister(active_leader)
    assert await leaders.get(active_leader) == before


async def test_top_up_reactivates_suspended_leader(leaders, leader_admins, active_leader, chain):
    await leader_admins.propose_slash(active_leader, SUI, "it lies", EVIDENCE)
    assert (await leaders.get(active_leader)).is_active
    with pytest.raises(WrongStateError, match="possible from") as caught:
        await leader_admins.execute_slash(active_leader)
    assert caught.value.code == "slash_not_due"
    chain.net.advance_clock(3 * DAY)
    await leader_admins.execute_slash(active_leader)
    current = await leaders.get(active_leader)
    assert (current.state, current.collateral.shortfall_mist) == (LeaderState.SUSPENDED, SUI)
    await leaders.top_up(active_leader)
    assert (await leaders.get(active_leader)).is_active


async def test_top_up_fails_for_complete_collateral(leaders, active_leader):
    with pytest.raises(WrongStateError) as caught:
        await leaders.top_up(active_leader)
    assert caught.value.code == "nothing_to_top_up"


# --- Workers and keys


async def test_owner_adds_and_removes_workers(leaders, active_leader, leader, user):
    await leaders.add_worker(active_leader, user.address)
    with pytest.raises(ValidationError) as caught:
        await leaders.add_worker(active_leader, user.address)
    assert caught.value.code == "already_listed"
    await leaders.remove_worker(active_leader, leader.address)
    assert (await leaders.get(active_leader)).workers.entries == (user.address,)
    with pytest.raises(NotFoundError) as caught:
        await leaders.remove_worker(active_leader, leader.address)
    assert caught.value.code == "not_listed"


async def test_add_worker_fails_for_seventeenth_worker(leaders, leader):
    sixteen = [Address.of(number) for number in range(1, 17)]
    _, place = await leaders.register("many", workers=sixteen)
    with pytest.raises(ValidationError) as caught:
        await leaders.add_worker(place, leader.address)
    assert caught.value.code == "too_many_entries"


async def test_owner_adds_and_removes_keys(leaders, active_leader):
    await leaders.add_key(active_leader, EVIDENCE)
    with pytest.raises(ValidationError) as caught:
        await leaders.add_key(active_leader, EVIDENCE[1:])
    assert caught.value.code == "invalid_key"
    with pytest.raises(ValidationError) as caught:
        await leaders.add_key(active_leader, bytes(32))  # of order 4: anyone can sign with it
    assert caught.value.code == "public_key_invalid"
    assert (await leaders.get(active_leader)).keys.keys == (EVIDENCE,)
    await leaders.remove_key(active_leader, EVIDENCE)
    with pytest.raises(NotFoundError) as caught:
        await leaders.remove_key(active_leader, EVIDENCE)
    assert caught.value.code == "unknown_key"


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        *((verb, ()) for verb in ("activate", "deactivate", "unregister", "cancel_unregister")),
        *((verb, ()) for verb in ("claim", "re_register", "top_up")),
        *((verb, (Address.of(1),)) for verb in ("add_worker", "remove_worker", "offer")),
        *((verb, (EVIDENCE,)) for verb in ("add_key", "remove_key")),
    ],
)
async def test_error_names_the_owner_of_the_leader(
    active_leader, leader, user, chain, verb, arguments
):
    with pytest.raises(NotAllowedError) as caught:
        await getattr(LeaderRegistry(user, chain.deployment), verb)(active_leader, *arguments)
    assert caught.value.code == "not_owner"
    assert str(leader.address) in caught.value.message


# --- Admin


async def test_configure_stores_settings(leaders, leader_admins):
    changed = {"collateral_mist": SUI, "grace_ms": 5_000, "max_ports_bytes": 9}
    settings = replace(await leader_admins.settings(), **changed)
    await leader_admins.configure(settings)
    assert await leaders.settings() == replace(settings, revision=settings.revision + 1)


async def test_configure_rejects_settings_out_of_bounds(leader_admins):
    settings = await leader_admins.settings()
    with pytest.raises(ValidationError) as caught:
        await leader_admins.configure(replace(settings, settle_margin_mist=10_000_001))
    assert caught.value.code == "invalid_settings"


@pytest.mark.parametrize("verb", ["propose_slash", "execute_slash", "cancel_slash", "configure"])
async def test_error_names_the_admin(leaders, active_leader, admin, verb):
    terms = {
        "propose_slash": (active_leader, 1, "envy", EVIDENCE),
        "configure": (await leaders.settings(),),
    }
    with pytest.raises(NotAllowedError) as caught:
        await getattr(leaders, verb)(*terms.get(verb, (active_leader,)))
    assert caught.value.code == "not_admin"
    assert str(admin.address) in caught.value.message


async def test_leader_views_equal_decoded_fields(leaders, leader, active_leader, chain):
    builder = TransactionBuilder()
    package = chain.deployment.package
    calls.leader.is_active(builder, package, active_leader)
    calls.leader.is_worker(builder, package, active_leader, leader.address)
    calls.leader.is_worker(builder, package, active_leader, Address.of(5))
    calls.leader.name(builder, package, active_leader)
    calls.leader_registry.leader_id(builder, package, chain.deployment.leader_registry, 0)
    results = [values[0] for values in (await leader.inspect(builder)).results]
    assert results == [b"\x01", b"\x01", b"\x00", b"\x05first", active_leader]
