"""Attacks by the publisher of the package, who alone can change its code."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from nexus_tools.contracts import LockDeployment, Publisher, UpgradeLocks
from nexus_tools.contracts.upgrade_lock import UpgradeMode
from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, ToolRegistry
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK

DAY_MS = 86_400_000
SUI = 1_000_000_000
SOURCES = "https://code.example.com/nexus_tools"


@pytest.fixture
async def locked_package(started, localnet):
    """Publish the locks, and our package by `admin` under one of them."""
    async with started.client("admin") as publisher:
        _, locks = await LockDeployment.publish(publisher)
        published = await Publisher(publisher).publish(locks)
        return locks, published.deployment


@pytest.fixture
def chain(started, locked_package):
    return replace(started, deployment=locked_package[1])


@pytest.fixture
def upgrades(parties, locked_package):
    """Return a function that gives a party's client for the lock of our package."""

    class OfOurs:
        def __init__(self, party="admin"):
            self.locks = UpgradeLocks(parties.clients[party], locked_package[0])
            self.package = locked_package[1].package_id

        def propose(self, package):
            return self.locks.propose(self.package, package, SOURCES)

        def execute(self, package):
            return self.locks.execute(self.package, package)

        def cancel(self):
            return self.locks.cancel(self.package)

    return OfOurs


async def test_publisher_cannot_upgrade_immediately(
    parties, upgrades, next_package, refused, attack
):
    publisher = Publisher(parties.clients["admin"])
    async with attack("admin"):
        with refused("upgrade_cap_unknown"):
            await publisher.upgrade(next_package, parties.chain.deployment)
        with refused("no_proposal"):
            await upgrades().execute(next_package)
        await upgrades().propose(next_package)
        parties.pass_time(14 * DAY_MS - 60_000)
        with refused("too_early"):
            await upgrades().execute(next_package)


async def test_publisher_cannot_use_the_upgrade_cap_past_the_lock(
    parties, upgrades, next_package, attack
):
    lock = await upgrades().locks.find(parties.chain.deployment.package_id)
    builder = TransactionBuilder()
    policy, digest = builder.pure(u8, 0), builder.byte_vector(next_package.digest)
    arguments = [builder.object(lock.cap.id), policy, digest]
    ticket = builder.move_call(SUI_FRAMEWORK, "package", "authorize_upgrade", arguments)
    modules, dependencies = next_package.modules, next_package.dependencies
    package = parties.chain.deployment.package_id
    receipt = builder.upgrade(modules, dependencies, package, ticket)
    arguments = [builder.object(lock.cap.id), receipt]
    builder.move_call(SUI_FRAMEWORK, "package", "commit_upgrade", arguments)
    async with attack("admin"):
        with pytest.raises(NexusError):
            await parties.clients["admin"].execute(builder)
    assert (await upgrades().locks.upgrade_state(package)).upgrades is UpgradeMode.LOCKED


async def test_publisher_cannot_prevent_owners_from_leaving_before_an_upgrade(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """An owner that sees the proposal on its first day can claim everything in half of the time."""
    forgotten = await parties.request(tool)
    await upgrades().propose(next_package)
    async with attack("admin") as played:
        await parties.tools().unregister(tool.fqn)
        await parties.leaders().unregister(active_leader)
        parties.pass_time(7 * DAY_MS)
        await parties.tools().claim(tool.fqn)
        await parties.leaders().claim(active_leader)
        await parties.invocations().delete(forgotten)
    assert played["owner"] > 1 * SUI - 10_000_000
    assert played["leader"] > 10 * SUI - 10_000_000
    assert played["user"] > tool.price_mist
    parties.pass_time(7 * DAY_MS)
    await upgrades("stranger").execute(next_package)
    assert (await parties.tools().get(tool.fqn)).collateral.is_claimed


@pytest.mark.long
async def test_publisher_cannot_lock_in_inactive_owners_by_its_own_version(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """Exit paths do not check the version. The code of the first version stays and still works."""
    forgotten, settled = await parties.request(tool), await parties.request(tool)
    await parties.settle(active_leader, settled)
    await upgrades().propose(next_package)
    parties.pass_time(14 * DAY_MS)
    await upgrades().execute(next_package)
    deployment = parties.chain.deployment
    await Publisher(parties.clients["admin"]).migrate(
        deployment.with_newest(
            (await parties.clients["admin"].package_versions(deployment.package_id))[-1]
        )
    )
    owners, leaders = (
        room(parties.clients[party], deployment)
        for room, party in ((ToolRegistry, "owner"), (LeaderRegistry, "leader"))
    )
    async with attack("admin") as played:
        await Invocations(parties.clients["user"], deployment).delete(forgotten, settled)
        await leaders.deactivate(active_leader)
        await leaders.unregister(active_leader)
        await owners.unregister(tool.fqn)
        parties.pass_time(7 * DAY_MS)
        await leaders.claim(active_leader)
        await owners.claim(tool.fqn)
    assert played["owner"] > 1 * SUI - 10_000_000
    assert played["leader"] > 10 * SUI - 10_000_000
    assert played["user"] > tool.price_mist


async def test_publisher_cannot_save_an_upgrade_permit_for_later(
    parties, upgrades, next_package, refused, attack
):
    await upgrades().propose(next_package)
    async with attack("admin"):
        parties.pass_time(21 * DAY_MS)
        with refused("proposal_expired"):
            await upgrades().execute(next_package)


async def test_publisher_cannot_execute_another_upgrade_than_proposed(
    parties, upgrades, next_package, fixed_package, refused, attack
):
    await upgrades().propose(fixed_package)
    async with attack("admin"):
        parties.pass_time(14 * DAY_MS)
        with refused("not_proposed"):
            await upgrades().execute(next_package)


async def test_publisher_cannot_exchange_a_proposal_during_its_delay(
    parties, upgrades, next_package, fixed_package, refused, attack
):
    await upgrades().propose(fixed_package)
    async with attack("admin"):
        parties.pass_time(13 * DAY_MS)
        with refused("proposal_pending"):
            await upgrades().propose(next_package)
        await upgrades().cancel()
        await upgrades().propose(next_package)
        parties.pass_time(13 * DAY_MS)
        with refused("too_early"):
            await upgrades().execute(next_package)


async def test_another_account_cannot_propose_an_upgrade(upgrades, next_package, refused, attack):
    async with attack("stranger"):
        with refused("not_owner"):
            await upgrades("stranger").propose(next_package)


async def test_next_version_cannot_close_by_other_rules(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """Earlier requests pay as agreed, whichever version closes them."""
    await upgrades().propose(next_package)
    parties.pass_time(14 * DAY_MS)
    invocation = await parties.request(tool)
    async with attack("admin") as played:
        await upgrades().execute(next_package)
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    assert played["leader"] > 2_000_000


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
async def test_publisher_and_admin_cannot_keep_collateral_by_any_order_of_actions(
    parties, upgrades, next_package, tool, active_leader, attack, seed
):
    """An owner that leaves within 3 days of the proposal has everything on day 14.

    The actions of the admin in between do not matter.
    """
    random, day = Random(seed), 0.0
    admins = parties.tools("admin"), parties.leaders("admin")
    places = tool.fqn, active_leader
    left_at = random.uniform(0, 3)
    moments = sorted({left_at, 13.9, *(random.uniform(0, 13.9) for _ in range(8))})
    await upgrades().propose(next_package)
    async with attack("admin", {"owner": SUI, "leader": 10 * SUI}) as played:
        for moment in moments:
            parties.pass_time(round((moment - day) * DAY_MS))
            day = moment
            owners = parties.tools(), parties.leaders()
            for place, owner, admin in zip(places, owners, admins, strict=True):
                if moment == left_at:
                    await owner.unregister(place)
                with suppress(NexusError):
                    await owner.claim(place)
                with suppress(NexusError):
                    await admin.cancel_slash(place)
                with suppress(NexusError):
                    await admin.propose_slash(place, 1 + random.randrange(SUI // 2), "x", bytes(32))
    assert played["owner"] > SUI - 10_000_000
    assert played["leader"] > 10 * SUI - 10_000_000
    parties.pass_time(DAY_MS)
    await upgrades("stranger").execute(next_package)
