"""Every abort of the modules of leaders, caused from Python on a chain.

Each case prepares the chain, and returns the sender of a transaction that aborts for its reason.
The transactions skip the checks of the services.
"""

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.registry import LeaderRegistry

SUI = 1_000_000_000
DAY = 86_400_000

MODULES = ("leader", "leader_registry", "version")

CASES = {}


def reaches(module, name):
    """Register the decorated function, which prepares this abort and returns the sender."""

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
    world.do(calls.leader_registry.configure, *astuple(settings)[:-1])  # without the revision
    return world.admin


def register_leader(world, name="second"):
    terms = (world.coin(10 * SUI), 7 * DAY, name, [world.user.address])
    world.do(calls.leader.share, world.do(calls.leader.register, *terms))
    return world.user


@reaches("leader_registry", "ENotAccepting")
async def register_when_nothing_is_accepted(world):
    admins = LeaderRegistry(world.admin, world.deployment)
    await admins.configure(replace(await admins.settings(), accepting=False))
    return register_leader(world)


@reaches("leader_registry", "ELeadersChanged")
async def register_after_a_leader_that_was_not_seen(world):
    world.do(calls.leader_registry.check_length, 0)
    return world.leader


# --- leader


@reaches("leader", "ENameTooLong")
async def a_name_of_one_byte_too_many(world):
    return register_leader(world, name="x" * 201)


@reaches("leader", "EAlreadyActive")
async def activate_twice(world):
    world.do(calls.leader.activate, world.leader_id)
    return world.leader


@reaches("leader", "ENotActive")
async def deactivate_twice(world):
    await world.leaders.deactivate(world.leader_id)
    world.do(calls.leader.deactivate, world.leader_id)
    return world.leader


@reaches("leader", "ECollateralInactive")
async def activate_after_a_slash(world):
    await world.leaders.deactivate(world.leader_id)
    await world.slash_leader()
    world.do(calls.leader.activate, world.leader_id)
    return world.leader


@reaches("version", "EWrongVersion")
async def activate_by_an_old_package(world):
    await world.upgrade()
    world.do(calls.leader.activate, world.leader_id)
    return world.leader


# --- Tests


def test_every_error_constant_has_a_case():
    stated = [(module, error.name) for module in MODULES for error in getattr(calls, module).ERRORS]
    assert sorted(CASES) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_abort_is_explained_with_its_reason(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)
