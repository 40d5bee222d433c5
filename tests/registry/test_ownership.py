"""The two-step transfer of names, leaders and the admin role."""

import pytest

from nexus_tools.contracts import name_id, parse_event
from nexus_tools.contracts.move_bindings.owner import OwnershipAccepted, OwnershipOffered
from nexus_tools.contracts.move_bindings.tool import ToolTakenOver, ToolUpdated
from nexus_tools.errors import NotAllowedError, NotFoundError
from nexus_tools.registry import Administration, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
NAME = "xyz.example.math.add"
KEYS = bytes(range(32)), b"\x02" * 32


# --- Names


@pytest.mark.usefixtures("added")
async def test_first_registration_owns_the_name(registry, chain, owner):
    name = await registry.name(NAME)
    assert name.id == name_id(chain.deployment.tool_registry, NAME)
    assert (name.name, name.owner.owner, name.owner.pending_owner) == (NAME, owner.address, None)
    tool = await registry.get(ADD)
    assert (tool.name, await registry.owner(tool)) == (name.id, owner.address)


async def test_name_fails_without_a_version(registry):
    with pytest.raises(NotFoundError) as caught:
        await registry.name(NAME)
    assert caught.value.code == "name_unknown"


@pytest.mark.usefixtures("added")
async def test_name_changes_owner_when_offer_is_accepted(registry, strangers, owner, user, define):
    offered = await registry.offer(NAME, user.address)
    name = (await registry.name(NAME)).id
    assert registry.emitted(offered, OwnershipOffered) == OwnershipOffered(
        name, owner.address, user.address
    )
    with pytest.raises(NotAllowedError) as caught:
        await strangers.update(ADD, price_mist=0)
    assert caught.value.code == "not_operator"
    accepted = await strangers.accept(NAME)
    assert strangers.emitted(accepted, OwnershipAccepted) == OwnershipAccepted(
        name, owner.address, user.address
    )
    await strangers.register(define("xyz.example.math.add@2"))
    with pytest.raises(NotAllowedError) as caught:
        await registry.unregister(ADD)
    assert caught.value.code == "not_owner"


@pytest.mark.usefixtures("added")
async def test_accepted_name_ends_access_of_former_owner(
    registry, strangers, define, owner, user, active_leader
):
    second = Registration(
        define("xyz.example.math.add@2"), price_mist=5, leaders=(active_leader,), keys=KEYS
    )
    await registry.register(second)
    await registry.add_operator(ADD, owner.address)
    await registry.add_operator(ADD, Address.of(5))
    await registry.offer(NAME, user.address)
    sent = await strangers.accept(NAME)
    first, second = await registry.versions(NAME)
    assert [
        (version.payout, version.operators.entries, version.keys.keys)
        for version in (first, second)
    ] == [
        (user.address, (), ()),
        (user.address, (), ()),
    ]
    assert (second.leaders.entries, second.price_mist) == ((active_leader,), 5)
    events = [parse_event(registry.deployment, event) for event in sent.events]
    kinds = [type(event) for event in events]
    assert kinds == [OwnershipAccepted, *[ToolTakenOver, ToolUpdated] * 2]


@pytest.mark.usefixtures("added")
async def test_accept_fails_after_offer_was_withdrawn(registry, strangers, user):
    await registry.offer(NAME, user.address)
    await registry.offer(NAME, None)
    with pytest.raises(NotAllowedError) as caught:
        await strangers.accept(NAME)
    assert caught.value.code == "not_offered"


@pytest.mark.usefixtures("added")
async def test_offer_fails_for_another_wallet(strangers, user):
    with pytest.raises(NotAllowedError) as caught:
        await strangers.offer(NAME, user.address)
    assert caught.value.code == "not_owner"


# --- Leaders


async def test_accepted_leader_has_one_worker_and_no_keys(
    leaders, active_leader, leader, user, chain
):
    await leaders.add_key(active_leader, KEYS[0])
    users = LeaderRegistry(user, chain.deployment)
    with pytest.raises(NotAllowedError) as caught:
        await users.accept(active_leader)
    assert caught.value.code == "not_offered"
    await leaders.offer(active_leader, user.address)
    assert (await leaders.get(active_leader)).owner.pending_owner == user.address
    await users.accept(active_leader)
    current = await leaders.get(active_leader)
    assert (current.owner.owner, current.owner.pending_owner) == (user.address, None)
    assert (current.workers.entries, current.keys.keys) == ((user.address,), ())
    with pytest.raises(NotAllowedError) as caught:
        await leaders.deactivate(active_leader)
    assert caught.value.code == "not_owner"


# --- Admin role


async def test_admin_role_passes_by_offer_and_accept(admin, user, admins, chain):
    ours, theirs = (Administration(client, chain.deployment) for client in (admin, user))
    with pytest.raises(NotAllowedError) as caught:
        await theirs.offer(user.address)
    assert caught.value.code == "not_admin"
    await ours.offer(user.address)
    assert (await ours.state()).owner.pending_owner == user.address
    settings = await admins.settings()
    with pytest.raises(NotAllowedError) as caught:
        await ToolRegistry(user, chain.deployment).configure(settings)
    assert caught.value.code == "not_admin"
    await theirs.accept()
    await ToolRegistry(user, chain.deployment).configure(settings)
    with pytest.raises(NotAllowedError) as caught:
        await admins.configure(settings)
    assert caught.value.code == "not_admin"
    assert str(user.address) in caught.value.message


async def test_accept_fails_without_an_offer(user, chain):
    with pytest.raises(NotAllowedError) as caught:
        await Administration(user, chain.deployment).accept()
    assert caught.value.code == "not_offered"
