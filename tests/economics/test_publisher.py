"""What the publisher of the package may hope for, who alone can change its code."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from nexus_tools.contracts import LockDeployment, Publisher, UpgradeLocks
from nexus_tools.contracts.upgrade_lock import Upgrades
from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, ToolRegistry
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK

DAY_MS = 86_400_000
SUI = 1_000_000_000
SOURCES = "https://code.example.com/nexus_tools"


@pytest.fixture
async def locked(started, localnet):
    """Where the locks are, and our package published by `admin` under one of them."""
    async with started.client("admin") as publisher:
        _, locks = await LockDeployment.publish(publisher)
        published = await Publisher(publisher).publish(locks)
        return locks, published.deployment


@pytest.fixture
def chain(started, locked):
    return replace(started, deployment=locked[1])


@pytest.fixture
def upgrades(parties, locked):
    """The verbs of locks for a party, of our package."""

    class OfOurs:
        def __init__(self, party="admin"):
            self.locks = UpgradeLocks(parties.clients[party], locked[0])
            self.package = locked[1].package_id

        def propose(self, package):
            return self.locks.propose(self.package, package, SOURCES)

        def execute(self, package):
            return self.locks.execute(self.package, package)

        def cancel(self):
            return self.locks.cancel(self.package)

    return OfOurs


async def test_a_publisher_hoped_to_upgrade_at_once(
    parties, upgrades, next_package, refused, attack
):
    publisher = Publisher(parties.clients["admin"])
    async with attack("admin"):
        with refused("upgrade_cap_unknown"):
            await publisher.upgrade(next_package, parties.chain.deployment)
        with refused("nothing_proposed"):
            await upgrades().execute(next_package)
        await upgrades().propose(next_package)
        parties.pass_time(14 * DAY_MS - 60_000)
        with refused("too_early"):
            await upgrades().execute(next_package)


async def test_a_publisher_hoped_to_use_the_cap_past_the_lock(
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
    assert (await upgrades().locks.upgrades(package)).upgrades is Upgrades.LOCKED


async def test_a_publisher_hoped_that_somebody_cannot_leave_before_an_upgrade(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """Whoever sees the proposal on its first day is away, with everything, half the way through."""
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


async def test_a_publisher_hoped_to_lock_in_those_who_slept_by_a_version_of_its_own(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """Ways out ask for no version: the code of the first one stays, and does as it did."""
    forgotten, settled = await parties.request(tool), await parties.request(tool)
    await parties.settle(active_leader, settled)
    await upgrades().propose(next_package)
    parties.pass_time(14 * DAY_MS)
    await upgrades().execute(next_package)
    deployment = parties.chain.deployment
    await Publisher(parties.clients["admin"]).migrate(
        deployment.at((await parties.clients["admin"].package_versions(deployment.package_id))[-1])
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


async def test_a_publisher_hoped_to_keep_the_right_to_upgrade_in_store(
    parties, upgrades, next_package, refused, attack
):
    await upgrades().propose(next_package)
    async with attack("admin"):
        parties.pass_time(21 * DAY_MS)
        with refused("void"):
            await upgrades().execute(next_package)


async def test_a_publisher_hoped_to_execute_something_else_than_it_proposed(
    parties, upgrades, next_package, fixed_package, refused, attack
):
    await upgrades().propose(fixed_package)
    async with attack("admin"):
        parties.pass_time(14 * DAY_MS)
        with refused("not_proposed"):
            await upgrades().execute(next_package)


async def test_a_publisher_hoped_to_exchange_the_proposal_while_the_time_runs_on(
    parties, upgrades, next_package, fixed_package, refused, attack
):
    await upgrades().propose(fixed_package)
    async with attack("admin"):
        parties.pass_time(13 * DAY_MS)
        with refused("proposed"):
            await upgrades().propose(next_package)
        await upgrades().cancel()
        await upgrades().propose(next_package)
        parties.pass_time(13 * DAY_MS)
        with refused("too_early"):
            await upgrades().execute(next_package)


async def test_a_stranger_hoped_to_propose_an_upgrade(upgrades, next_package, refused, attack):
    async with attack("stranger"):
        with refused("not_owner"):
            await upgrades("stranger").propose(next_package)


async def test_a_publisher_hoped_that_the_next_version_closes_by_other_rules(
    parties, upgrades, next_package, tool, active_leader, attack
):
    """What was requested before pays as it was agreed, whichever version closes it."""
    await upgrades().propose(next_package)
    parties.pass_time(14 * DAY_MS)
    invocation = await parties.request(tool)
    async with attack("admin") as played:
        await upgrades().execute(next_package)
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    assert played["leader"] > 2_000_000


@pytest.mark.parametrize("seed", range(4))
async def test_a_publisher_and_an_admin_hoped_that_some_order_keeps_what_an_upgrade_takes(
    parties, upgrades, next_package, tool, active_leader, attack, seed
):
    """Who leaves within 3 days of the proposal is away with everything on the 14th, whatever the
    admin proposes in between."""
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
