"""Every abort of the module `invocation`, reached from Python on a chain.

Each case prepares the chain and gives who sends the transaction in the making, which aborts for its
reason: calls are made without the checks that the services make beforehand.
"""

import pytest

from nexus_tools.package import move as calls
from nexus_tools.tool import Answer, ToolFqn

SUI = 1_000_000_000
WINDOW = 5_000 + 15_000
ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})

MODULES = ("invocation",)

CASES = {}


def reaches(module, name):
    """The decorated function prepares a transaction with this abort; it gives who sends it."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- invocation


@reaches("invocation", "EToolNotActive")
async def request_a_suspended_tool(world):
    await world.slash_tool(1)
    return world.request()


@reaches("invocation", "ENoLeader")
async def request_without_leader(world):
    await world.leaders.deactivate(world.cap)
    tool = await world.tools.get(ADD)
    cost = await world.invocations.quote(tool, {"a": 1}, 10)
    return world.request(payment=cost)


@reaches("invocation", "EInputsTooLarge")
async def request_with_large_inputs(world):
    return world.request(inputs={f"port{number}": "x" * 14_000 for number in range(5)})


@reaches("invocation", "EOutcomeLimitTooLarge")
async def request_a_large_outcome(world):
    return world.request(max_outcome_bytes=65_537)


@reaches("invocation", "EWrongPayment")
async def request_for_one_mist(world):
    return world.request(payment=1)


@reaches("invocation", "EClosed")
async def settle_twice(world):
    invocation = await world.requested()
    await world.closing.close(world.cap, {invocation: ANSWER})
    return world.settle(invocation)


@reaches("invocation", "ENotResponsible")
async def settle_what_came_before(world):
    invocation = await world.requested()
    _, newcomer = await world.leaders.register("second", activate=True)
    return world.settle(invocation, newcomer)


@reaches("invocation", "ELeaderSuspended")
async def settle_after_a_slash(world):
    admins = await world.propose_to_slash_leader()
    invocation = await world.requested()
    await admins.execute_slash(world.cap)
    return world.settle(invocation)


@reaches("invocation", "ETooEarly")
async def settle_before_ones_turn(world):
    await world.leaders.register("second", activate=True)
    invocation = await world.requested()
    _, secondary = (await world.invocations.get(invocation)).leaders
    return world.settle(invocation, secondary)


@reaches("invocation", "ETooLate")
async def settle_after_the_last_window(world):
    invocation = await world.requested()
    world.net.advance_clock(WINDOW)
    return world.settle(invocation)


@reaches("invocation", "ENotExpired")
async def expire_at_once(world):
    world.do(calls.invocation.expire, await world.requested())
    return world.user


@reaches("invocation", "EOutcomeTooLarge")
async def settle_with_one_byte_too_many(world):
    # The outcome has 13 bytes: see test_invocations.
    return world.settle(await world.requested(max_outcome_bytes=12))


@reaches("invocation", "EUnknownReason")
async def fail_for_trouble_of_ones_own(world):
    invocation = await world.requested()
    fee = world.do(calls.invocation.fail, invocation, world.cap, "internal", "")
    world.builder.merge_coins(world.builder.gas, [fee])
    return world.leader


def delete(world, invocation):
    coin = world.do(calls.invocation.delete, invocation)
    world.builder.merge_coins(world.builder.gas, [coin])


@reaches("invocation", "ENotRequester")
async def delete_what_another_requested(world):
    invocation = await world.requested()
    await world.closing.close(world.cap, {invocation: ANSWER})
    delete(world, invocation)
    return world.leader


@reaches("invocation", "ENotClosed")
async def delete_what_is_open(world):
    delete(world, await world.requested())
    return world.user


@reaches("invocation", "ENotSettled")
async def ask_for_the_variant_of_what_is_open(world):
    world.do(calls.invocation.variant, await world.requested())
    return world.user


# --- The tests


def test_every_error_constant_of_these_modules_has_its_case():
    stated = [(module, each.name) for module in MODULES for each in getattr(calls, module).ERRORS]
    assert sorted(CASES) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_the_chain_aborts_and_the_reason_is_told_in_words(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)
