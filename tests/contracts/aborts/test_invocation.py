"""Every abort of the modules of invocations, caused from Python on a chain.

Each case prepares the chain, and returns the sender of a transaction that aborts for its reason.
The transactions skip the checks of the services.
"""

import json
from importlib import import_module

import pytest

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings import signed_outcome
from nexus_tools.registry import Executions, Invocations, Workflows
from nexus_tools.tool import Answer, ToolFqn
from nexus_tools.workflow import read_document

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})
KEY = bytes(range(32))

MODULES = ("failure", "invocation", "signed_outcome")
ELSEWHERE = ("invocation", "ELeadersOnly")
"""Reached in `test_on_chain`."""

CASES = {}

ADDING = {
    "vertices": [
        {
            "name": "add",
            "kind": {"variant": "off_chain", "tool_fqn": str(ADD)},
            "entry_ports": [{"name": "a"}, {"name": "b"}],
        }
    ],
    "edges": [],
}


def reaches(module, name):
    """Register the decorated function, which prepares this abort and returns the sender."""

    def keep(prepare):
        CASES[module, name] = prepare
        return prepare

    return keep


# --- invocation


@reaches("invocation", "EToolNotActive")
async def request_a_suspended_tool(world):
    await world.slash_tool(1)
    return world.request()


@reaches("invocation", "EToolChanged")
async def request_an_older_revision(world):
    await world.tools.update(ADD, price_mist=1)
    return world.request()


@reaches("invocation", "ESettingsChanged")
async def request_under_older_settings(world):
    return world.request(settings_revision=1)


@reaches("invocation", "ELeaderNotAccepted")
async def request_by_a_leader_that_is_not_listed(world):
    _, other = await world.leaders.register("second", activate=True)
    return world.request(leader=other)


@reaches("invocation", "ELeaderNotActive")
async def request_by_a_leader_that_rests(world):
    await world.leaders.deactivate(world.leader_id)
    return world.request()


@reaches("invocation", "ESameLeader")
async def request_by_one_leader_twice(world):
    terms = (world.ports({"a": 1}), 10, world.coin(1))
    leaders = (world.leader_id, world.leader_id)
    world.do(calls.invocation.request_with_backup, 0, world.tool, 0, *leaders, *terms)
    return world.user


@reaches("invocation", "EInputsTooLarge")
async def request_with_large_inputs(world):
    return world.request(inputs={f"port{number}": "x" * 14_000 for number in range(5)})


@reaches("invocation", "EOutcomeLimitTooLarge")
async def request_a_large_outcome(world):
    return world.request(max_outcome_bytes=65_537)


@reaches("invocation", "EOutcomeLimitTooSmall")
async def request_a_smaller_outcome_than_the_tool_gives(world):
    await world.tools.update(ADD, min_outcome_bytes=11)
    return world.request(revision=1)


@reaches("invocation", "EToolWithoutKey")
async def request_a_signed_answer_of_a_tool_without_a_key(world):
    await world.tools.add_key(ADD, KEY)
    await world.tools.update(ADD, requires_signed_outcome=True)
    await world.tools.remove_key(ADD, KEY)
    return world.request(revision=1)


@reaches("invocation", "EWrongPayment")
async def request_for_one_mist(world):
    return world.request()


@reaches("invocation", "EAlreadyClosed")
async def expire_what_is_settled(world):
    invocation = await world.requested()
    await world.closing.close(world.leader_id, {invocation: ANSWER})
    world.do(calls.invocation.expire, invocation)
    return world.user


@reaches("invocation", "ENotResponsible")
async def settle_what_names_another_leader(world):
    invocation = await world.requested()
    _, newcomer = await world.leaders.register("second", activate=True)
    return world.settle(invocation, newcomer)


@reaches("invocation", "ENotWorker")
async def settle_without_working_for_the_leader(world):
    return world.settle(await world.requested(), sender=world.user)


@reaches("invocation", "ELeaderSuspended")
async def settle_after_a_slash(world):
    admins = await world.propose_to_slash_leader()
    invocation = await world.requested()
    await admins.execute_slash(world.leader_id)
    return world.settle(invocation)


@reaches("invocation", "ETooEarly")
async def settle_before_ones_turn(world):
    _, second = await world.leaders.register("second", activate=True)
    await world.tools.add_leader(ADD, second)
    invocation = await world.requested(leaders=(world.leader_id, second))
    return world.settle(invocation, second)


@reaches("invocation", "ENotExpired")
async def expire_at_once(world):
    world.do(calls.invocation.expire, await world.requested())
    return world.user


@reaches("invocation", "EOutcomeTooLarge")
async def settle_with_one_byte_too_many(world):
    # The outcome has 13 bytes: see test_invocations.
    return world.settle(await world.requested(max_outcome_bytes=12))


async def requested_of_signing(world):
    await world.tools.add_key(ADD, KEY)
    await world.tools.update(ADD, requires_signed_outcome=True)
    return await world.requested()


@reaches("invocation", "ESignatureOrCallRequired")
async def settle_without_the_signature_that_is_asked_for(world):
    return world.settle(await requested_of_signing(world))


def settle_signed(world, invocation, key=KEY):
    answer = ("ok", world.ports(ANSWER.ports), key, bytes(64))
    world.do(signed_outcome.settle, invocation, world.leader_id, *answer)
    return world.leader


@reaches("signed_outcome", "EWrongKey")
async def settle_with_a_key_of_ones_own(world):
    return settle_signed(world, await requested_of_signing(world), key=bytes(32))


@reaches("signed_outcome", "EInvalidSignature")
async def settle_with_a_signature_of_zeros(world):
    return settle_signed(world, await requested_of_signing(world))


@reaches("invocation", "EWrongVersion")
async def settle_by_an_old_package(world):
    invocations = Invocations(world.user, await world.upgrade())
    _, invocation = await invocations.request(await world.tools.get(ADD), {"a": 1, "b": 2})
    return world.settle(invocation)


def fail(world, invocation, reason="timed_out", detail=""):
    world.do(calls.invocation.fail, invocation, world.leader_id, reason, detail)
    return world.leader


@reaches("failure", "EUnknownReason")
async def fail_for_trouble_of_ones_own(world):
    return fail(world, await world.requested(), reason="internal")


@reaches("failure", "EDetailTooLong")
async def fail_with_one_byte_too_many(world):
    return fail(world, await world.requested(), detail="x" * 201)


@reaches("invocation", "ENotRequester")
async def delete_what_another_requested(world):
    invocation = await world.requested()
    await world.closing.close(world.leader_id, {invocation: ANSWER})
    world.do(calls.invocation.delete, invocation)
    return world.leader


@reaches("invocation", "ENotClosed")
async def delete_what_is_open(world):
    world.do(calls.invocation.delete, await world.requested())
    return world.user


@reaches("invocation", "EIsAttempt")
async def delete_an_attempt_by_itself(world):
    _, _, invocation = await attempt(world)
    world.do(calls.invocation.delete, invocation)
    return world.user


@reaches("signed_outcome", "EIsAttempt")
async def settle_an_attempt_without_its_inputs(world):
    _, _, invocation = await attempt(world)
    return settle_signed(world, invocation)


@reaches("invocation", "EWrongExecution")
async def delete_another_invocation_for_an_execution(world):
    execution, dag, invocation = await attempt(world)
    other = await world.requested()
    world.net.advance_clock(86_400_000)  # no one closes the attempt, so the execution ends
    world.do(calls.workflows.execution.advance, execution, dag, invocation)
    world.do(calls.workflows.cleaning.clean_invocation, execution, other)
    return world.user


async def attempt(world):
    """Return an execution of a workflow that adds, the workflow, and its first invocation."""
    document, _ = read_document(json.dumps(ADDING))
    published = Workflows(world.user, world.deployment)
    await published.publish(document, "org.example.adding@1")
    workflow = await published.get("org.example.adding@1")
    executions = Executions(world.user, world.deployment)
    started = await executions.start(workflow, {"a": 1, "b": 2})
    requested = executions.emitted(started.sent, calls.invocation.InvocationRequested)
    return started.execution, workflow.id, requested.invocation


# --- Tests


def test_every_error_constant_has_a_case():
    stated = [
        (module, error.name)
        for module in MODULES
        for error in import_module(f"{calls.__name__}.{module}").ERRORS
    ]
    assert sorted([*CASES, ELSEWHERE]) == sorted(stated)


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda part: part)
async def test_abort_is_explained_with_its_reason(world, module, name):
    sender = await CASES[module, name](world)
    await world.assert_aborts(sender, module, name)
