"""Every abort of the modules of tools, and of modules shared with leaders, caused on a chain.

Each case prepares the chain, and returns the sender of a transaction that aborts for its reason.
The transactions skip the checks of the services.
"""

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

SUI = 1_000_000_000
DAY = 86_400_000
ADD = ToolFqn.parse("xyz.example.math.add@1")
MATHS = "org.example.maths.add@1"
NOBODY = Address.of(0xDEAD)

MODULES = (
    *("collateral", "definition", "keys", "name", "owner", "roster", "tool", "tool_registry"),
    *("value", "version"),
)
ELSEWHERE = ("definition", "EIncompatibleFunction")
"""Reached in `test_on_chain`."""

CASES = {}


def reaches(module, name):
    """Register the decorated function, which prepares this abort and returns the sender."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- collateral


@reaches("collateral", "EAlreadyUnregistered")
async def unregister_twice(world):
    await world.tools.unregister(ADD)
    world.do_to_tool(calls.tool.unregister)
    return world.owner


@reaches("collateral", "ENotUnregistered")
async def cancel_what_was_not_started(world):
    world.do_to_tool(calls.tool.cancel_unregister)
    return world.owner


@reaches("collateral", "EDelayNotOver")
async def claim_too_early(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(6 * DAY)
    world.do_to_tool(calls.tool.claim)
    return world.owner


def propose(world, amount=1, reason="it lies", evidence=bytes(32)):
    world.do(calls.slashing.propose_for_tool, world.tool, amount, reason, evidence)
    return world.admin


@reaches("collateral", "ELockedForSlash")
async def claim_what_is_held_back(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(6 * DAY)
    admins = ToolRegistry(world.admin, world.deployment)
    await admins.propose_slash(ADD, SUI // 2, "it lies", bytes(32))
    world.net.advance_clock(DAY)
    await world.tools.claim(ADD)
    world.do_to_tool(calls.tool.claim)
    return world.owner


@reaches("collateral", "EDelayOver")
async def propose_when_the_delay_is_over(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(7 * DAY)
    return propose(world)


@reaches("collateral", "ESlashPending")
async def propose_two_slashes(world):
    propose(world)
    return propose(world)


@reaches("collateral", "ENoSlashPending")
async def cancel_what_was_not_proposed(world):
    world.do(calls.slashing.cancel_for_tool, world.tool)
    return world.admin


@reaches("collateral", "ESlashNotDue")
async def execute_at_once(world):
    propose(world)
    world.do(calls.slashing.execute_for_tool, world.tool)
    return world.admin


@reaches("collateral", "EInvalidSlashAmount")
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


@reaches("collateral", "EWrongTopUpAmount")
async def top_up_too_much(world):
    await world.slash_tool(10)
    world.do_to_tool(calls.tool.top_up, world.coin(11))
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


@reaches("value", "ENameTooLong")
async def a_port_with_a_name_of_one_byte_too_many(world):
    world.do(calls.value.ports, ["x" * 101], [world.do(calls.value.inline, b"1")])
    return world.user


@reaches("value", "EUnknownPort")
async def a_port_that_is_not_there(world):
    world.do(calls.value.port, world.ports({"a": 1}), "b")
    return world.user


@reaches("value", "ENotAList")
async def an_element_of_a_text(world):
    world.do(calls.value.element, world.do(calls.value.inline, b"[1]"), 0)
    return world.user


@reaches("value", "EIndexOutOfBounds")
async def an_element_beyond_the_end(world):
    world.do(calls.value.element, world.do(calls.value.remote_list, "walrus", [b"one"]), 1)
    return world.user


@reaches("value", "ETooManyParts")
async def a_text_of_one_chunk_too_many(world):
    world.do(calls.value.inline_chunks, [b"1"] * 65)
    return world.user


@reaches("value", "ERemoteValue")
async def a_list_of_what_is_outside_the_chain(world):
    world.do(calls.value.list_of, [world.do(calls.value.remote, "walrus", b"one")])
    return world.user


@reaches("value", "ETooManyPorts")
async def more_ports_than_allowed(world):
    values = [world.do(calls.value.inline, b"1") for _ in range(33)]
    world.do(calls.value.ports, [f"port_{number}" for number in range(33)], values)
    return world.user


@reaches("value", "ETooManyParts")
async def a_value_in_more_parts_than_allowed(world):
    world.do(calls.value.inline_chunks, [b"1"] * 65)
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
    world.do_to_tool(calls.tool.cancel_unregister)
    return world.owner


# --- definition


def fields_of(definition):
    """Return the fields that define an off-chain tool."""
    return astuple(definition)[:-1]


def defining(name, **fields):
    @reaches("definition", name)
    async def define_wrongly(world):
        world.do(calls.definition.define, *fields_of(world.definition(**fields)))
        return world.owner


defining("EInvalidFqn", fqn="xyz.example.add@01")
defining("EUnknownToolType", tool_type="script")
defining("EFunctionMissing", tool_type="onchain")
defining("EUrlTooLong", url="x" * 2_049)
defining("EDescriptionTooLong", description="ä" * 2_049)


# --- tool


def registering(world, definition: Definition, collateral=SUI, delay=7 * DAY, price=0, leaders=()):
    made = world.do(calls.definition.define, *fields_of(definition))
    coin = world.coin(collateral)
    tool, name = world.do(calls.tool.register, coin, delay, made, price, leaders)
    world.do(calls.tool.share, tool)
    world.do(calls.name.share, name)
    return world.user


@reaches("tool", "ESchemaTooLarge")
async def a_schema_of_one_byte_too_many(world):
    return registering(world, world.definition(fqn=MATHS, input_schema=b" " * 49_153))


@reaches("tool_registry", "ENotAccepting")
async def register_when_nothing_is_accepted(world):
    admins = ToolRegistry(world.admin, world.deployment)
    await admins.configure(replace(await admins.settings(), accepting=False))
    return registering(world, world.definition(fqn=MATHS))


@reaches("collateral", "ECollateralTooSmall")
async def one_mist_too_little(world):
    return registering(world, world.definition(fqn=MATHS), SUI - 1)


@reaches("collateral", "EDelayTooLong")
async def too_little_patience(world):
    return registering(world, world.definition(fqn=MATHS), delay=7 * DAY - 1)


@reaches("tool", "EPriceTooHigh")
async def a_price_of_more_than_half_the_collateral(world):
    terms = {"price": SUI // 2 + 1, "leaders": [world.leader_id]}
    return registering(world, world.definition(fqn=MATHS), **terms)


@reaches("tool", "EAcceptsAnyLeader")
async def a_price_without_a_list_of_leaders(world):
    return registering(world, world.definition(fqn=MATHS), price=1)


@reaches("name", "ENameTaken")
async def a_version_of_somebody_elses_name(world):
    return registering(world, world.definition(fqn="xyz.example.math.add@2"))


def registering_version(world, fqn):
    made = world.do(calls.definition.define, *fields_of(world.definition(fqn=fqn)))
    terms = (world.coin(SUI), 7 * DAY, made, 0, [])
    world.do(calls.tool.share, world.do(calls.tool.register_version, world.name, *terms))
    return world.owner


@reaches("tool", "EFqnTaken")
async def the_same_version_again(world):
    return registering_version(world, str(ADD))


@reaches("tool", "EWrongName")
async def a_version_of_another_name(world):
    return registering_version(world, "xyz.example.math.mul@1")


@reaches("tool", "ETimeoutOutOfRange")
async def a_timeout_below_a_second(world):
    world.do_to_tool(calls.tool.update_timeout, 999)
    return world.owner


@reaches("tool", "ESigningKeyMissing")
async def signed_answers_without_a_key(world):
    world.do_to_tool(calls.tool.update_requires_signed_outcome, True)
    return world.owner


@reaches("tool", "ENotOperator")
async def update_what_is_somebody_elses(world):
    world.do_to_tool(calls.tool.update_price, 1)
    return world.user


# --- owner


@reaches("owner", "ENotOwner")
async def unregister_what_is_somebody_elses(world):
    world.do_to_tool(calls.tool.unregister)
    return world.user


@reaches("owner", "ENotOffered")
async def accept_a_name_that_was_not_offered(world):
    world.do(calls.name.accept, world.name)
    return world.user


# --- keys


@reaches("keys", "EInvalidKey")
async def a_key_of_one_byte_too_few(world):
    world.do_to_tool(calls.tool.add_key, bytes(31))
    return world.owner


@reaches("keys", "EDuplicateKey")
async def the_same_key_twice(world):
    for _ in range(2):
        world.do_to_tool(calls.tool.add_key, bytes(32))
    return world.owner


@reaches("keys", "ETooManyKeys")
async def a_fifth_key(world):
    for number in range(5):
        world.do_to_tool(calls.tool.add_key, bytes([number]) * 32)
    return world.owner


@reaches("keys", "EUnknownKey")
async def remove_what_is_no_key(world):
    world.do_to_tool(calls.tool.remove_key, bytes(32))
    return world.owner


# --- roster


@reaches("roster", "EAlreadyListed")
async def list_a_leader_twice(world):
    world.do_to_tool(calls.tool.add_leader, world.leader_id)
    return world.owner


@reaches("roster", "ENotListed")
async def remove_who_is_no_operator(world):
    world.do_to_tool(calls.tool.remove_operator, NOBODY)
    return world.owner


@reaches("roster", "ETooManyEntries")
async def a_seventeenth_operator(world):
    for number in range(17):
        world.do_to_tool(calls.tool.add_operator, Address.of(number))
    return world.owner


# --- A claimed tool


@reaches("collateral", "EAlreadyClaimed")
async def unregister_what_was_claimed(world):
    await world.tools.unregister(ADD)
    world.net.advance_clock(7 * DAY)
    await world.tools.claim(ADD)
    world.do_to_tool(calls.tool.unregister)
    return world.owner


@reaches("collateral", "ENotClaimed")
async def re_register_what_is_active(world):
    world.do_to_tool(calls.tool.re_register, world.coin(SUI), 7 * DAY)
    return world.owner


# --- Tests


def test_every_error_constant_has_a_case():
    stated = [(module, error.name) for module in MODULES for error in getattr(calls, module).ERRORS]
    assert sorted([*CASES, ELSEWHERE]) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_abort_is_explained_with_its_reason(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)


async def test_new_version_works_after_upgrade(world):
    upgraded = await world.upgrade()
    await ToolRegistry(world.owner, upgraded).unregister(ADD)
    assert not (await world.tools.get(ADD)).is_active
