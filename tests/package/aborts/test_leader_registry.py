"""Every abort of the module `leader_registry`, reached from Python on a chain.

Each case prepares the chain and gives who sends the transaction in the making, which aborts for its
reason: calls are made without the checks that the services make beforehand.
"""

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.package import move as calls
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.address import Address

SUI = 1_000_000_000
DAY = 86_400_000
NOBODY = Address.of(0xDEAD)

MODULES = ("version", "leader_registry")

CASES = {}


def reaches(module, name):
    """The decorated function prepares a transaction with this abort; it gives who sends it."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- leader_registry


@reaches("version", "EAlreadyMigrated")
async def migrate_leaders_without_upgrade(world):
    world.do(calls.leader_registry.migrate)
    return world.admin


@reaches("leader_registry", "EInvalidSettings")
async def a_delay_of_more_than_a_week(world):
    settings = replace(await world.leaders.settings(), unregister_delay_ms=7 * DAY + 1)
    world.do(calls.leader_registry.configure, *astuple(settings))
    return world.admin


def register_leader(world, collateral=10 * SUI, name="second", delay=7 * DAY):
    cap = world.do(calls.leader_registry.register, world.coin(collateral), delay, name)
    world.builder.transfer_objects([cap], world.user.address)
    return world.user


@reaches("leader_registry", "ENotAdmitted")
async def register_without_being_listed(world):
    await LeaderRegistry(world.admin, world.deployment).admit([])
    return register_leader(world)


@reaches("leader_registry", "ENotAccepting")
async def register_when_nothing_is_accepted(world):
    admins = LeaderRegistry(world.admin, world.deployment)
    await admins.configure(replace(await admins.settings(), accepting=False))
    return register_leader(world)


@reaches("leader_registry", "ECollateralTooSmall")
async def one_mist_of_collateral_too_little(world):
    return register_leader(world, collateral=10 * SUI - 1)


@reaches("leader_registry", "EDelayTooLong")
async def register_with_too_little_patience(world):
    return register_leader(world, delay=7 * DAY - 1)


@reaches("leader_registry", "ENotClaimed")
async def delete_what_was_not_claimed(world):
    world.do(calls.leader_registry.delete, world.cap)
    return world.leader


@reaches("leader_registry", "ENameTooLong")
async def a_name_of_one_byte_too_many(world):
    return register_leader(world, name="x" * 201)


@reaches("leader_registry", "EUnknownLeader")
async def slash_nobody(world):
    world.do(calls.leader_registry.propose_slash, NOBODY, 1, "it lies", bytes(32))
    return world.admin


@reaches("leader_registry", "EAlreadyActive")
async def activate_twice(world):
    world.do(calls.leader_registry.activate, world.cap)
    return world.leader


@reaches("leader_registry", "ENotActive")
async def deactivate_twice(world):
    await world.leaders.deactivate(world.cap)
    world.do(calls.leader_registry.deactivate, world.cap)
    return world.leader


@reaches("leader_registry", "ENotInForce")
async def activate_after_a_slash(world):
    await world.slash_leader()
    world.do(calls.leader_registry.activate, world.cap)
    return world.leader


@reaches("version", "EWrongVersion")
async def activate_by_an_old_package(world):
    await world.upgrade()
    world.do(calls.leader_registry.activate, world.cap)
    return world.leader


# --- The tests


def test_every_error_constant_of_these_modules_has_its_case():
    stated = [(module, each.name) for module in MODULES for each in getattr(calls, module).ERRORS]
    assert sorted(CASES) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_the_chain_aborts_and_the_reason_is_told_in_words(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)
