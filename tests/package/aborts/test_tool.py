"""Every abort of the modules of tools, reached from Python on a chain.

Each case prepares the chain and gives who sends the transaction in the making, which aborts for its
reason: calls are made without the checks that the services make beforehand.
"""

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.package import move as calls
from nexus_tools.package.move.definition import Definition
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.address import Address
from nexus_tools.tool import ToolFqn

SUI = 1_000_000_000
DAY = 86_400_000
ADD = ToolFqn.parse("xyz.example.math.add@1")
NOBODY = Address.of(0xDEAD)

MODULES = ("collateral", "definition", "version", "value", "tool_registry", "tool")

CASES = {}


def reaches(module, name):
    """The decorated function prepares a transaction with this abort; it gives who sends it."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- collateral


@reaches("collateral", "EAlreadyUnregistered")
async def unregister_twice(world):
    await world.tools.unregister(ADD)
    world.do(calls.tool.unregister, world.tool, world.owner_cap)
    return world.owner


@reaches("collateral", "ENotUnregistered")
async def cancel_what_was_not_started(world):
    world.do(calls.tool.cancel_unregister, world.tool, world.owner_cap)
    return world.owner


@reaches("collateral", "EDelayNotOver")
async def claim_too_early(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(6 * DAY)
    coin = world.do(calls.tool.claim, world.tool, world.owner_cap)
    world.builder.merge_coins(world.builder.gas, [coin])
    return world.owner


def propose(world, amount=1, reason="it lies", evidence=bytes(32)):
    world.do(calls.tool.propose_slash, world.tool, amount, reason, evidence)
    return world.admin


@reaches("collateral", "EHeldBack")
async def claim_what_is_held_back(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(7 * DAY)
    admins = ToolRegistry(world.admin, world.deployment)
    await admins.propose_slash(ADD, SUI // 2, "it lies", bytes(32))
    await world.tools.claim(ADD)
    coin = world.do(calls.tool.claim, world.tool, world.owner_cap)
    world.builder.merge_coins(world.builder.gas, [coin])
    return world.owner


@reaches("collateral", "ESlashPending")
async def propose_two_slashes(world):
    propose(world)
    return propose(world)


@reaches("collateral", "ENoSlashPending")
async def cancel_what_was_not_proposed(world):
    world.do(calls.tool.cancel_slash, world.tool)
    return world.admin


@reaches("collateral", "ENotDue")
async def execute_at_once(world):
    propose(world)
    world.do(calls.tool.execute_slash, world.tool)
    return world.admin


@reaches("collateral", "EWrongSlash")
async def propose_to_slash_by_nothing(world):
    return propose(world, amount=0)


@reaches("collateral", "ESlashTooLarge")
async def propose_to_slash_by_more_than_half(world):
    return propose(world, amount=SUI // 2 + 1)


@reaches("collateral", "EInvalidReason")
async def propose_to_slash_without_a_reason(world):
    return propose(world, reason="")


@reaches("collateral", "EInvalidEvidence")
async def propose_to_slash_without_evidence(world):
    return propose(world, evidence=b"")


@reaches("collateral", "EWrongTopUp")
async def top_up_too_much(world):
    await world.slash_tool(10)
    world.do(calls.tool.top_up, world.tool, world.owner_cap, world.coin(11))
    return world.owner


# --- value


@reaches("value", "ELengthMismatch")
async def a_name_without_value(world):
    world.do(calls.value.ports, ["a"], [])
    return world.user


@reaches("value", "EDuplicatePort")
async def a_name_twice(world):
    values = [world.do(calls.value.inline, b"1") for _ in range(2)]
    world.do(calls.value.ports, ["a", "a"], values)
    return world.user


@reaches("value", "ETooManyPorts")
async def more_ports_than_allowed(world):
    values = [world.do(calls.value.inline, b"1") for _ in range(33)]
    world.do(calls.value.ports, [f"port_{number}" for number in range(33)], values)
    return world.user


# --- tool_registry


@reaches("version", "EAlreadyMigrated")
async def migrate_without_upgrade(world):
    world.do(calls.tool_registry.migrate)
    return world.admin


@reaches("tool_registry", "EInvalidSettings")
async def contradicting_settings(world):
    settings = await world.tools.settings()
    wrong = replace(settings, min_timeout_ms=settings.max_timeout_ms + 1)
    world.do(calls.tool_registry.configure, *astuple(wrong))
    return world.admin


@reaches("version", "EWrongVersion")
async def cancel_by_an_old_package(world):
    await world.upgrade()
    world.do(calls.tool.cancel_unregister, world.tool, world.owner_cap)
    return world.owner


# --- definition


def defining(name, **fields):
    @reaches("definition", name)
    async def define_wrongly(world):
        world.do(calls.definition.define, *astuple(world.definition(**fields)))
        return world.owner


defining("EInvalidFqn", fqn="xyz.example.add@01")
defining("EUnknownToolType", tool_type="script")
defining("EOnchainNotAccepted", tool_type="onchain")
defining("EUrlTooLong", url="x" * 2_049)
defining("EDescriptionTooLong", description="ä" * 2_049)


# --- tool


def registering(world, definition: Definition, collateral=SUI, delay=7 * DAY, price=0):
    made = world.do(calls.definition.define, *astuple(definition))
    coin = world.coin(collateral)
    both = world.do(calls.tool.register, coin, delay, made, price)
    world.do(calls.tool.share, both[0])
    world.builder.transfer_objects([both[1]], world.user.address)
    return world.user


@reaches("tool", "ESchemaTooLarge")
async def a_schema_of_one_byte_too_many(world):
    fqn = "org.example.maths.add@1"
    return registering(world, world.definition(fqn=fqn, input_schema=b" " * 49_153))


@reaches("tool_registry", "ENotAccepting")
async def register_when_nothing_is_accepted(world):
    admins = ToolRegistry(world.admin, world.deployment)
    await admins.configure(replace(await admins.settings(), accepting=False))
    return registering(world, world.definition(fqn="org.example.maths.add@1"))


@reaches("tool", "ECollateralTooSmall")
async def one_mist_too_little(world):
    return registering(world, world.definition(fqn="org.example.maths.add@1"), SUI - 1)


@reaches("tool", "EDelayTooLong")
async def too_little_patience(world):
    definition = world.definition(fqn="org.example.maths.add@1")
    return registering(world, definition, delay=7 * DAY - 1)


@reaches("tool", "EPriceTooHigh")
async def a_price_of_more_than_half_the_collateral(world):
    definition = world.definition(fqn="org.example.maths.add@1")
    return registering(world, definition, price=SUI // 2 + 1)


@reaches("tool", "ENameTaken")
async def a_version_of_somebody_elses_name(world):
    return registering(world, world.definition(fqn="xyz.example.math.add@2"))


@reaches("tool", "EFqnTaken")
async def the_same_version_again(world):
    made = world.do(calls.definition.define, *astuple(world.definition()))
    terms = (world.coin(SUI), 7 * DAY, made, 0)
    tool = world.do(calls.tool.register_version, world.owner_cap, *terms)
    world.do(calls.tool.share, tool)
    return world.owner


@reaches("tool", "ETimeoutOutOfRange")
async def a_timeout_below_a_second(world):
    world.do(calls.tool.update_timeout, world.by_owner, world.tool, world.owner_cap, 999)
    return world.owner


@reaches("tool", "ENotOwner")
async def unregister_with_the_cap_of_another_name(world):
    world.do(calls.tool.unregister, world.tool, await world.stranger_cap())
    return world.user


@reaches("tool", "ENotOperator")
async def update_with_the_cap_of_another_name(world):
    world.do(calls.tool.update_price, world.by_owner, world.tool, await world.stranger_cap(), 1)
    return world.user


@reaches("tool", "EUnknownOperator")
async def revoke_what_was_never_issued(world):
    world.do(calls.tool.revoke_operator_cap, world.tool, world.owner_cap, NOBODY)
    return world.owner


@reaches("tool", "EClaimed")
async def unregister_what_was_claimed(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(7 * DAY)
    await world.tools.claim(ADD)
    world.do(calls.tool.unregister, world.tool, world.owner_cap)
    return world.owner


@reaches("tool", "ENotClaimed")
async def re_register_what_is_active(world):
    world.do(calls.tool.re_register, world.tool, world.owner_cap, world.coin(SUI), 7 * DAY)
    return world.owner


# --- The tests


def test_every_error_constant_of_these_modules_has_its_case():
    stated = [(module, each.name) for module in MODULES for each in getattr(calls, module).ERRORS]
    assert sorted(CASES) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_the_chain_aborts_and_the_reason_is_told_in_words(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)


async def test_the_new_version_works_after_an_upgrade(world):
    upgraded = await world.upgrade()
    await ToolRegistry(world.owner, upgraded).unregister(ADD)
    assert not (await world.tools.get(ADD)).is_active
