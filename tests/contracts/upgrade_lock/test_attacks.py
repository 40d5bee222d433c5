"""Attacks on a lock by the publisher, by another account, and by the publisher of the lock."""

from dataclasses import replace

import pytest

from nexus_tools.contracts import LockDeployment, Publisher, UpgradeLocks, UpgradeMode
from nexus_tools.contracts.upgrade_lock.deployment import load_lock_package
from nexus_tools.contracts.upgrade_lock.move_bindings import upgrade_lock
from nexus_tools.errors import NexusError, RefusedOnChainError
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

_CAP = """
module vault::cap;

public struct Cap has key { id: UID }

fun init(ctx: &mut TxContext) {
    transfer::transfer(Cap { id: object::new(ctx) }, ctx.sender())
}
"""
NOTHING_PROPOSED = "no_proposal"


async def refused(code, sent):
    with pytest.raises(NexusError) as caught:
        await sent
    assert caught.value.code == code, caught.value.message
    return caught.value


async def aborts(client, builder):
    """Return the message with which the chain refuses a transaction."""
    with pytest.raises(RefusedOnChainError) as caught:
        await client.execute(builder)
    return caught.value.message


# --- By the publisher


async def test_locked_cap_cannot_upgrade_at_once(world, authorized, builder):
    lock = await world.locks().find(world.package)
    receipt = authorized(builder, lock.cap.id, world.package, world.vault(2))
    builder.move_call(
        SUI_FRAMEWORK, "package", "commit_upgrade", [builder.object(lock.cap.id), receipt]
    )
    with pytest.raises(NexusError):
        await world.owner.execute(builder)
    assert len(await world.versions()) == 1


async def test_upgraded_package_cannot_be_locked(
    owner, deployment, free, vault, authorized, builder
):
    package, cap = free
    receipt = authorized(builder, cap, package, vault(2))
    arguments = [builder.object(cap), receipt]
    builder.move_call(SUI_FRAMEWORK, "package", "commit_upgrade", arguments)
    await owner.execute(builder)
    await refused("already_upgraded", UpgradeLocks(owner, deployment).lock(cap))


async def test_lock_during_upgrade_is_rejected(owner, deployment, free, vault, authorized, builder):
    package, cap = free
    receipt = authorized(builder, cap, package, vault(2))
    locks = UpgradeLocks(owner, deployment)
    upgrade_lock.lock(builder, deployment.package, deployment.locks, cap)
    # `lock` shares the lock, so the same transaction cannot use it.
    upgrade_lock.commit(builder, deployment.package, locks.lock_id(package), receipt)
    with pytest.raises(NexusError):
        await owner.execute(builder)
    assert await locks.find(package) is None


async def test_execute_rejects_other_dependencies(world):
    proposed = world.vault(2)
    await world.propose(proposed)
    world.pass_days(14)
    others = tuple(reversed(proposed.dependencies[:1]))
    builder = TransactionBuilder()
    package = world.deployment.package
    ticket = upgrade_lock.authorize(builder, package, world.lock)
    receipt = builder.upgrade(proposed.modules, others, world.package, ticket)
    upgrade_lock.commit(builder, package, world.lock, receipt)
    assert "digest" in (await aborts(world.owner, builder)).lower()
    assert len(await world.versions()) == 1


async def test_execute_rejects_modules_that_differ_from_proposal(world):
    await world.propose(world.vault(2))
    world.pass_days(14)
    error = await refused("not_proposed", world.locks().execute(world.package, world.vault(3)))
    assert world.vault(2).digest.hex() in error.message
    builder = TransactionBuilder()
    other, package = world.vault(3), world.deployment.package
    ticket = upgrade_lock.authorize(builder, package, world.lock)
    receipt = builder.upgrade(other.modules, other.dependencies, world.package, ticket)
    upgrade_lock.commit(builder, package, world.lock, receipt)
    message = await aborts(world.owner, builder)
    assert "digest" in message.lower()
    assert (await world.locks().upgrade_state(world.package)).proposal is not None


async def test_new_proposal_restarts_the_delay(world):
    await world.propose(world.vault(2))
    world.pass_days(13)
    await refused("proposal_pending", world.propose(world.vault(3)))
    await world.locks().cancel(world.package)
    await world.propose(world.vault(3))
    world.pass_days(1)
    await refused("too_early", world.locks().execute(world.package, world.vault(3)))


async def test_propose_rejects_missing_sources(world):
    locks, proposed = world.locks(), world.vault(2)
    await refused("invalid_sources", locks.propose(world.package, proposed, ""))
    await refused("invalid_sources", locks.propose(world.package, proposed, "x" * 501))
    digest = replace(proposed, digest=b"short")
    await refused("invalid_digest", locks.propose(world.package, digest, "https://x.example"))


async def test_proposal_cannot_be_executed_after_its_window(world):
    await world.propose(world.vault(2))
    world.pass_days(21)
    await refused("proposal_expired", world.locks().execute(world.package, world.vault(2)))
    assert (await world.locks().upgrade_state(world.package)).proposal is None


async def test_proposal_cannot_be_executed_twice(world):
    await world.propose(world.vault(2))
    world.pass_days(14)
    await world.locks().execute(world.package, world.vault(2))
    await refused(NOTHING_PROPOSED, world.locks().execute(world.package, world.vault(2)))


async def test_immutable_package_cannot_be_upgraded(world):
    await world.propose(world.vault(2))
    await world.locks().make_immutable(world.package)
    world.pass_days(14)
    await refused(NOTHING_PROPOSED, world.locks().execute(world.package, world.vault(2)))
    await refused("immutable", world.propose(world.vault(2)))
    assert (await world.locks().upgrade_state(world.package)).upgrades is UpgradeMode.IMMUTABLE


# --- By another account


async def test_authorize_without_upgrade_is_rejected(world):
    await world.propose(world.vault(2))
    world.pass_days(14)
    builder = TransactionBuilder()
    upgrade_lock.authorize(builder, world.deployment.package, world.lock)
    with pytest.raises(RefusedOnChainError):
        await world.user.execute(builder)
    await world.locks(world.user).execute(world.package, world.vault(2))
    assert len(await world.versions()) == 2


async def test_upgrade_without_commit_is_rejected(world):
    proposed = world.vault(2)
    await world.propose(proposed)
    world.pass_days(14)
    builder = TransactionBuilder()
    ticket = upgrade_lock.authorize(builder, world.deployment.package, world.lock)
    builder.upgrade(proposed.modules, proposed.dependencies, world.package, ticket)
    with pytest.raises(RefusedOnChainError):
        await world.user.execute(builder)
    assert len(await world.versions()) == 1


async def test_commit_rejects_receipt_of_another_package(world, user, vault, authorized, builder):
    first = vault()
    sent = await Publisher(user).publish_other(first.modules, first.dependencies)
    (cap,) = sent.created_of("package", "UpgradeCap")
    receipt = authorized(builder, cap, sent.published(), vault(7))
    upgrade_lock.commit(builder, world.deployment.package, world.lock, receipt)
    with pytest.raises(RefusedOnChainError):
        await user.execute(builder)
    assert (await world.locks().find(world.package)).cap.package == world.package


async def test_owner_methods_reject_other_wallets(world):
    await world.propose(world.vault(2))
    locks = world.locks(world.user)
    for verb in (
        locks.propose(world.package, world.vault(2), "https://x.example"),
        locks.cancel(world.package),
        locks.make_immutable(world.package),
        locks.offer(world.package, world.user.address),
    ):
        await refused("not_owner", verb)
    await refused("not_offered", locks.accept(world.package))


async def test_lock_of_another_package_cannot_be_blocked(world, user, vault, free):
    # The ID of a lock follows from the cap, not from an argument.
    first = vault()
    sent = await Publisher(user).publish_other(first.modules, first.dependencies, world.deployment)
    locks = world.locks(user)
    assert (await locks.find(sent.published())).owner == user.address
    assert await locks.find(free[0]) is None
    assert (await locks.find(world.package)).owner == world.owner.address


async def test_former_owner_loses_all_rights(world):
    await world.locks().offer(world.package, world.user.address)
    await world.locks(world.user).accept(world.package)
    await refused("not_owner", world.propose(world.vault(2)))
    await world.locks(world.user).propose(world.package, world.vault(2), "https://x.example")


async def test_propose_rejects_init_of_added_module(world):
    with_init = world.vault(more=_CAP)
    error = await refused("init_in_upgrade", world.propose(with_init))
    assert "the added module cap" in error.message


# --- By the publisher of `upgrade_lock`


async def test_find_rejects_another_package_as_lock(world):
    error = await refused("lock_not_genuine", LockDeployment.find(world.user, world.package))
    assert error.exit_code == 8


async def test_find_rejects_lock_whose_cap_was_kept(user, builder):
    package = load_lock_package()
    cap = builder.publish(package.modules, package.dependencies)
    builder.transfer_objects([cap], user.address)
    sent = await user.execute(builder)
    await refused("lock_not_immutable", LockDeployment.find(user, sent.published()))


async def test_find_rejects_lock_whose_cap_was_hidden(user, deployment, builder):
    package = load_lock_package()
    cap = builder.publish(package.modules, package.dependencies)
    upgrade_lock.lock(builder, deployment.package, deployment.locks, cap)
    sent = await user.execute(builder)
    await refused("lock_not_immutable", LockDeployment.find(user, sent.published()))


async def test_find_rejects_object_that_is_not_a_package(user):
    await refused("package_unknown", LockDeployment.find(user, Address.of(0xDEAD)))
