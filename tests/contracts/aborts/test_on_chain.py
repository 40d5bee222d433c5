"""Every abort of the modules of on-chain tools, caused on a chain.

The tools are those of the package itself, `ask` and `wait`. The admin has their `Publisher`.
"""

from dataclasses import replace
from importlib import import_module

import pytest

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings import function, json, on_chain_call
from nexus_tools.contracts.move_bindings import waiting as tools
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.bindings.runtime import StructTag
from nexus_tools.sui.types.type_tag import parse_struct_tag
from nexus_tools.tool import ToolFqn, ask_definition, wait_definition
from tests.contracts.aborts.test_invocation import attempt

ADD = ToolFqn.parse("xyz.example.math.add@1")
DAY_MS = 86_400_000
PUBLISHER = parse_struct_tag("0x2::package::Publisher")

MODULES = ("function", "json", "on_chain_call", "waiting")
BESIDES = [("definition", "EIncompatibleFunction"), ("invocation", "ELeadersOnly")]

CASES = {}


def reaches(module, name):
    """Register the decorated function, which prepares this abort and returns the sender."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- function


async def make_function(world, module="waiting", name="Wait", kinds=(), objects=(), gas_mist=1):
    """Add the command that creates a function of a witness, with the publisher of `waiting`."""
    [publisher] = await world.admin.owned_objects(world.admin.address, PUBLISHER)
    package = world.deployment.package
    witness = StructTag(package.original_id, module, name, ())
    terms = (list(kinds), list(objects), gas_mist, False)
    return function.new(world.builder, package, witness, publisher.id, *terms)


@reaches("function", "EWrongPublisher")
async def a_witness_of_another_module(world):
    await make_function(world, "value", "Ports")
    return world.admin


@reaches("function", "EGasTooHigh")
async def more_gas_than_a_call_takes(world):
    await make_function(world, gas_mist=50_000_001)
    return world.admin


@reaches("function", "ETooManyArguments")
async def more_type_arguments_than_a_function_has(world):
    await make_function(world, kinds=["u64"] * 9)
    return world.admin


# --- definition


@reaches("definition", "EIncompatibleFunction")
async def another_witness_for_a_tool(world):
    tool = await registered(world, wait_definition)
    argument = await make_function(world, name="Ask")
    world.do(calls.tool.update_function, tool.id, tool.name, argument)
    return world.admin


# --- json


@reaches("json", "ENotU64")
async def a_number_that_is_none(world):
    world.do(json.read_u64, b"1.5")
    return world.user


@reaches("json", "ENotBool")
async def a_truth_that_is_none(world):
    world.do(json.read_bool, b"1")
    return world.user


@reaches("json", "ENotString")
async def a_text_that_is_none(world):
    world.do(json.read_string, b'"')
    return world.user


@reaches("json", "ENotAddress")
async def an_address_that_is_none(world):
    world.do(json.read_address, b'"0x"')
    return world.user


# --- on_chain_call


async def registered(world, define, **changes):
    """Register a tool of the package itself, with the changes."""
    definition = define(str(world.deployment.original_id))
    definition = replace(definition, **changes)
    registry = ToolRegistry(world.admin, world.deployment)
    await registry.register(definition)
    return await registry.get(definition.fqn)


async def waiting(world, inputs=None, **changes):
    """Return an invocation of `wait`, and the tool."""
    tool = await registered(world, wait_definition, **changes)
    result = await world.invocations.request(tool, inputs or {"duration_ms": 0})
    return result[1], tool.id


async def asking(world, **inputs):
    """Return an invocation of `ask`, and the tool."""
    tool = await registered(world, ask_definition)
    document = {"answerer": str(world.user.address), "question": "Shall we?", **inputs}
    result = await world.invocations.request(tool, document)
    return result[1], tool.id


def called(world, invocation, tool, *functions):
    """Open an invocation, call functions with arguments, and close it."""
    call = world.do(on_chain_call.open, invocation, tool)
    for name, *arguments in functions:
        world.do(name, call, *arguments)
    world.do(on_chain_call.close_by_anyone, call, invocation)
    return world.user


@reaches("on_chain_call", "EWrongTool")
async def open_with_another_tool(world):
    invocation, _ = await waiting(world)
    return called(world, invocation, world.tool)


@reaches("on_chain_call", "ENotOnChain")
async def open_what_is_invoked_over_http(world):
    return called(world, await world.requested(), world.tool)


@reaches("on_chain_call", "EIsAttempt")
async def open_an_attempt_without_its_inputs(world):
    _, _, invocation = await attempt(world)
    return called(world, invocation, world.tool)


@reaches("on_chain_call", "EWrongWitness")
async def finish_a_wait_as_a_question(world):
    invocation, tool = await waiting(world)
    world.net.advance_clock(89 * DAY_MS)
    return called(world, invocation, tool, (tools.expire,))


@reaches("on_chain_call", "EAlreadyFinished")
async def finish_twice(world):
    return called(world, *await waiting(world), (tools.finish_wait,), (tools.finish_wait,))


@reaches("on_chain_call", "ENotFinished")
async def close_without_an_answer(world):
    return called(world, *await waiting(world))


@reaches("on_chain_call", "EAlreadyClosed")
async def open_what_is_closed(world):
    invocation, tool = await waiting(world)
    called(world, invocation, tool, (tools.finish_wait,))
    return called(world, invocation, tool, (tools.finish_wait,))


@reaches("on_chain_call", "EWrongInvocation")
async def close_another_invocation(world):
    invocation, tool = await waiting(world)
    call = world.do(on_chain_call.open, invocation, tool)
    world.do(tools.finish_wait, call)
    world.do(on_chain_call.close_by_anyone, call, await world.requested())
    return world.user


@reaches("invocation", "ELeadersOnly")
async def close_what_is_for_leaders(world):
    package = str(world.deployment.original_id)
    for_leaders = replace(wait_definition(package).function, closable_by_anyone=False)
    invocation, tool = await waiting(world, function=for_leaders, timeout_ms=10_000)
    return called(world, invocation, tool, (tools.finish_wait,))


# --- waiting


@reaches("waiting", "ENotAnswerer")
async def answer_for_another(world):
    called(world, *await asking(world), (tools.approve, "Why not?"))
    return world.leader


@reaches("waiting", "ETooEarly")
async def end_a_question_at_once(world):
    return called(world, *await asking(world, timeout_ms=DAY_MS), (tools.expire,))


@reaches("waiting", "EInvalidWaitTime")
async def wait_for_two_times(world):
    inputs = {"duration_ms": 0, "until_ms": 0}
    return called(world, *await waiting(world, inputs), (tools.finish_wait,))


# --- Tests


def test_every_error_constant_has_a_case():
    stated = [
        (module, error.name)
        for module in MODULES
        for error in import_module(f"{calls.__name__}.{module}").ERRORS
    ]
    assert sorted(CASES) == sorted([*stated, *BESIDES])


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_abort_is_explained_with_its_reason(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)
