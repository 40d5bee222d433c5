"""A locked package, as its owner, other accounts and watchers see it."""

from contextlib import aclosing

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import (
    Deployment,
    LockDeployment,
    Publisher,
    UpgradeLocks,
    UpgradeMode,
)
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.client import Cursor, EventRecord, follow_events
from nexus_tools.sui.types.object import MovePackage, Shared

DAY_MS = 86_400_000


async def test_find_trusts_published_lock(deployment, user):
    assert await LockDeployment.find(user, deployment.package_id) == deployment
    assert LockDeployment.parse(deployment.as_json()) == deployment
    assert isinstance((await user.object(deployment.locks)).owner, Shared)


async def test_parse_rejects_incomplete_document(deployment):
    document = deployment.as_json()
    del document["locks"]
    with pytest.raises(ValidationError, match="locks"):
        LockDeployment.parse(document)


async def test_lock_is_found_by_its_package(world):
    state = await world.locks(world.user).upgrade_state(world.package)
    assert (state.package, state.version, state.upgrades) == (world.package, 1, UpgradeMode.LOCKED)
    assert (state.owner, state.proposal) == (world.owner.address, None)
    assert (await world.locks().find(world.package)).cap.package == world.package


async def test_anyone_executes_the_proposal(world):
    proposed = world.vault(2)
    await world.propose(proposed)
    world.pass_days(14)
    sent = await world.locks(world.user).execute(world.package, proposed)
    state = await world.locks().upgrade_state(sent.published())
    assert (state.package, state.version, state.proposal) == (world.package, 2, None)
    package = (await world.user.object(sent.published())).data
    assert isinstance(package, MovePackage)
    assert package.version == 2


async def test_proposal_has_its_time_window(world):
    await world.propose(world.vault(2))
    proposal = (await world.locks().upgrade_state(world.package)).proposal
    assert proposal.digest == world.vault(2).digest
    assert proposal.executable_at_ms - proposal.proposed_at_ms == 14 * DAY_MS
    assert proposal.expires_at_ms - proposal.proposed_at_ms == 21 * DAY_MS
    with pytest.raises(Exception, match=r"possible from .* UTC \(in (14 d|13 d 23 h)\)") as caught:
        await world.locks(world.user).execute(world.package, world.vault(2))
    assert caught.value.details["possible_at_ms"] == proposal.executable_at_ms


async def test_upgrades_can_be_repeated(world):
    for fee in (2, 3):
        await world.propose(world.vault(fee))
        world.pass_days(14)
        await world.locks(world.user).execute(world.package, world.vault(fee))
    assert (await world.locks().upgrade_state(world.package)).version == 3


async def test_unlocked_package_can_be_locked_later(owner, deployment, free):
    package, cap = free
    locks = UpgradeLocks(owner, deployment)
    assert (await locks.upgrade_state(package)).upgrades is UpgradeMode.FREE
    await locks.lock(cap)
    assert (await locks.upgrade_state(package)).upgrades is UpgradeMode.LOCKED


async def test_propose_fails_for_unlocked_package(owner, deployment, free, vault):
    with pytest.raises(NotFoundError) as caught:
        await UpgradeLocks(owner, deployment).propose(free[0], vault(2), "https://x.example")
    assert caught.value.code == "package_not_locked"


async def test_dry_run_proposes_nothing(world):
    await world.locks().dry_run_client().propose(world.package, world.vault(2), "https://x.example")
    assert (await world.locks().upgrade_state(world.package)).proposal is None


async def test_every_step_emits_an_event(world):
    locks = world.locks()
    await world.propose(world.vault(2))
    await locks.cancel(world.package)
    await world.propose(world.vault(3))
    world.pass_days(14)
    await world.locks(world.user).execute(world.package, world.vault(3))
    await locks.offer(world.package, world.user.address)
    await world.locks(world.user).accept(world.package)
    await world.locks(world.user).make_immutable(world.package)
    seen = []
    past = follow_events(world.user, locks.events(), Cursor.beginning())
    async with aclosing(past) as items:
        async for item in items:
            if isinstance(item, EventRecord):
                event = locks.parse_event(item.event)
                assert (event.lock, event.package) == (world.lock, world.package)
                seen.append(type(event).__name__)
                if seen[-1] == "PackageMadeImmutable":
                    break
    assert seen == [
        "PackageLocked",
        "UpgradeProposed",
        "UpgradeCancelled",
        "UpgradeProposed",
        "UpgradeExecuted",
        "OwnershipOffered",
        "OwnershipAccepted",
        "PackageMadeImmutable",
    ]


# --- Our package


@pytest.fixture
async def ours(admin, deployment):
    """Return our package, published and locked in one transaction."""
    return (await Publisher(admin).publish(deployment)).deployment


async def test_publish_locks_package_in_same_transaction(admin, deployment, ours):
    package = await admin.object(ours.package_id)
    lock = await admin.object(UpgradeLocks(admin, deployment).lock_id(ours.original_id))
    assert lock.previous_transaction == package.previous_transaction
    assert ours.upgrade_cap is None
    assert Deployment.parse(ours.as_json()) == ours


async def test_anyone_upgrades_and_admin_migrates(
    admin, user, localnet, deployment, ours, next_package
):
    locks = UpgradeLocks(admin, deployment)
    await locks.propose(ours.original_id, next_package, "https://code.example.com/v2")
    localnet.advance_clock(14 * DAY_MS)
    upgraded = await Publisher(user).upgrade(next_package, ours, deployment)
    assert upgraded.version == 2
    assert upgraded.deployment == replace(ours, package_id=upgraded.deployment.package_id)
    again = await Publisher(user).upgrade(next_package, ours, deployment)
    assert (again.sent, again.version) == (None, 2)
    migrated = await Publisher(admin).migrate(upgraded.deployment)
    assert [event.type.name for event in migrated.events] == ["RegistryMigrated"] * 2
