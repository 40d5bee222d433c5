"""A Leader handles invocations of on-chain tools by calling their Move functions."""

from dataclasses import replace

import pytest

from nexus_tools.contracts.move_bindings.invocation import InvocationFailed, InvocationSettled
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.registry import Invocations, ToolRegistry, read_histories
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.types.address import CLOCK
from nexus_tools.tool import Answer, ToolFqn
from tests.leader.on_chain.conftest import told


async def test_function_answer_settles_the_invocation(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    async with world.running(leader):
        [first, second] = await world.request(tool, {"n": 3}, {"n": 4})
        closed = await world.closed(first, second)
    assert await counter.total() == 7
    assert all(isinstance(invocation.state, State.Settled) for invocation in closed)
    assert {invocation.state.ports.as_json()["total"] for invocation in closed} in ({3, 7}, {4, 7})


async def test_function_gas_goes_to_the_worker_and_the_price_to_the_tool_owner(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition(gas=7_000_000), price_mist=5_000)
    settings = await world.leaders.settings()
    gas_price = await world.client.gas_price()
    async with world.running(leader):
        [invocation] = await world.request(tool, {"n": 1})
        await world.closed(invocation)
    [settled] = await told(world, InvocationSettled)
    least = settings.fee_gas_units * gas_price + settings.fee_storage_mist + 7_000_000
    assert settled.price_mist == 5_000
    assert settled.fee_mist > least


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("with_other_witness", "the type of the witness is not"),
        ("without_answer", "has not finished"),
        ("without_end", "gas"),
        ("with_much", "gas"),
    ],
)
async def test_failing_function_costs_the_leader_no_gas(world, counter, sent, function, words):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition(function))
    async with world.running(leader):
        [invocation] = await world.request(tool, {"n": 1})
        [closed] = await world.closed(invocation)
    assert isinstance(closed.state, State.Failed)
    assert closed.state.reason == "aborted"
    assert await counter.total() == 0
    assert len(sent) == 1
    [failed] = await told(world, InvocationFailed)
    assert words in failed.detail.lower()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("private", "not public"),
        ("with_chance", "Random"),
        ("with_result", "returns"),
        ("by_value", "references"),
        ("without_call", "&mut Call"),
        ("of_owned", "expected 2 objects, got 1"),
        ("nowhere", "does not exist"),
    ],
)
async def test_registration_rejects_a_function_that_no_leader_can_call(
    world, counter, function, words
):
    with pytest.raises(NexusError) as error:
        await world.register_tool(counter.definition(function))
    assert words in error.value.message
    # An account that registers it anyway gets no answers and harms no one.
    leader = await world.new_leader()
    publisher = await counter.declaration()
    tool = await world.register_tool(counter.definition(function), declaration=publisher)
    async with world.running(leader):
        [invocation] = await world.request(tool, {"n": 1})
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "aborted"
    assert await counter.total() == 0


@pytest.fixture
async def victim(world, serve_tools, add_tool, add_definition):
    """Return a leader, and an invocation of an honest tool that the leader has not closed yet."""
    leader = await world.new_leader()
    honest = await world.register_tool(add_definition(await serve_tools(add_tool)))
    [invocation] = await world.request(honest, {"a": 1, "b": 2})
    return leader, invocation


async def check_that_only_the_leader_acted(world, leader, victim, tool):
    """Call a tool that attacks the victim. The leader fails the call, and settles the victim."""
    [invocation] = await world.request(tool, {"n": 1})
    async with world.running(leader):
        settled, failed = await world.closed(victim, invocation)
    assert settled.state.ports.as_json() == {"result": 3}
    assert failed.state.reason == "aborted"
    [only] = await told(world, InvocationSettled)
    assert only.invocation == victim
    histories = await read_histories(world.leaders, [await world.leaders.get(leader.id)])
    record = histories.records[leader.id]
    assert (record.settled, record.failed, record.missed) == (1, 0, 0)


@pytest.mark.parametrize("function", ["in_the_name_of_another", "with_context_in_the_middle"])
async def test_function_cannot_act_as_the_leader_that_calls_it(world, counter, victim, function):
    """The worker is the sender: its `TxContext` would let a function close invocations."""
    leader, invocation = victim
    objects = [counter.counter, invocation, leader.id, CLOCK]
    definition = counter.definition(function, list(map(str, objects)))
    with pytest.raises(ValidationError, match="act as the caller") as error:
        await world.register_tool(definition)
    assert error.value.code == "function_incompatible"
    tool = await world.register_tool(definition, declaration=await counter.declaration())
    await check_that_only_the_leader_acted(world, leader, invocation, tool)


async def test_function_cannot_take_the_context_by_a_type_argument(world, counter, victim):
    leader, invocation = victim
    objects = [counter.counter, invocation, leader.id, CLOCK]
    context = "0x2::tx_context::TxContext"
    definition = counter.definition(
        "with_any_type", list(map(str, objects)), type_arguments=[context]
    )
    tool = await world.register_tool(definition, declaration=await counter.declaration())
    await check_that_only_the_leader_acted(world, leader, invocation, tool)


async def test_function_cannot_expire_an_invocation_before_its_windows_end(world, counter, victim):
    leader, invocation = victim
    objects = [counter.counter, invocation, CLOCK]
    tool = await world.register_tool(
        counter.definition("with_early_expiry", list(map(str, objects)))
    )
    await check_that_only_the_leader_acted(world, leader, invocation, tool)


async def test_call_rejects_an_owned_object(world, counter):
    leader = await world.new_leader()
    objects = [str(counter.counter), str(counter.owned)]
    tool = await world.register_tool(counter.definition("of_owned", objects))
    async with world.running(leader):
        [invocation] = await world.request(tool, {"n": 1})
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "aborted"
    [failed] = await told(world, InvocationFailed)
    assert "neither shared nor immutable" in failed.detail


async def test_schema_invalid_inputs_are_not_passed_to_the_function(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    async with world.running(leader):
        [invocation] = await world.request(tool, {"n": "three"})
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "input_invalid"


async def test_another_account_cannot_register_a_tool_for_a_function(world, counter):
    thief = KeyPair.from_secret(SignatureScheme.ED25519, bytes(range(32)))
    world.localnet.fund(thief.address, 10**12)
    async with world.client_of(thief) as client:
        tools = ToolRegistry(client, world.deployment)
        with pytest.raises(ValidationError) as error:
            await tools.register(
                replace(counter.definition(), fqn=ToolFqn.parse("xyz.stolen.count@1"))
            )
    assert error.value.code == "publisher_missing"


@pytest.fixture
def turns_once(counter, monkeypatch):
    """Make the function succeed in the simulation and burn the gas of the first transaction."""
    send, calls = TransactionSender.send, []

    async def turned_before(sender, transaction):
        calls.append(transaction)
        if len(calls) == 1:
            await counter.set_closed(True)
        executed = await send(sender, transaction)
        await counter.set_closed(False)
        return executed

    monkeypatch.setattr(TransactionSender, "send", turned_before)


@pytest.mark.usefixtures("turns_once")
async def test_function_that_turned_is_blocked_for_a_day(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    async with world.running(leader):
        [first] = await world.request(tool, {"n": 1})
        [closed] = await world.closed(first)
        [second] = await world.request(tool, {"n": 1})
        [after] = await world.closed(second)
    assert (closed.state.reason, after.state.reason) == ("refused", "refused")
    assert await counter.total() == 0


@pytest.mark.usefixtures("turns_once")
async def test_function_that_turned_is_left_to_the_backup(world, counter, log):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    tool = await world.register_tool(counter.definition())
    async with world.running(first):
        [alone] = await world.request(tool, {"n": 1}, leaders=[first.id])
        await world.closed(alone)
        [both] = await world.request(tool, {"n": 1}, leaders=[first.id, second.id])
        assert (await log.wait_for("left_to_backup"))["reason"] == "refused"
    world.localnet.advance_clock((await world.invocations.get(both)).window_ms)
    async with world.running(second):
        [closed] = await world.closed(both)
    assert (closed.state.leader, await counter.total()) == (second.id, 1)


async def test_leader_cannot_settle_an_on_chain_tool_without_a_call(world, counter):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    [invocation] = await world.request(tool, {"n": 1})
    async with world.client_of(leader.key) as client:
        invocations = Invocations(client, world.deployment)
        with pytest.raises(NexusError) as error:
            await invocations.close(leader.id, {invocation: Answer("ok", {"total": 9})})
    assert error.value.code == "signature_or_call_required"


# --- Updates


async def test_update_may_change_function_parameters_but_not_the_witness(world, counter):
    leader = await world.new_leader()
    before = counter.definition()
    await world.register_tool(before)
    after = counter.definition("add_at", [str(counter.counter), str(CLOCK)], gas=7_000_000)
    await world.tools.update(before.fqn, url=after.url, function=after.function)
    async with world.running(leader):
        tool = await world.tools.get(before.fqn)
        [invocation] = await world.request(tool, {"n": 3})
        await world.closed(invocation)
    assert await counter.total() == 3
    changed = (await world.tools.get(before.fqn)).definition.parse()
    assert (changed.url, changed.function) == (after.url, after.function)
    for other, code in [
        (
            replace(after.function, witness=f"{counter.package}::counter::Other"),
            "incompatible_function",
        ),
        (replace(after.function, closable_by_anyone=True), "incompatible_function"),
        (replace(after.function, objects=()), "function_incompatible"),
    ]:
        with pytest.raises(NexusError) as caught:
            await world.tools.update(before.fqn, function=other)
        assert caught.value.code == code


async def test_update_rejects_a_function_that_does_not_exist(world, counter):
    definition = counter.definition()
    await world.register_tool(definition)
    with pytest.raises(NexusError) as caught:
        await world.tools.update(definition.fqn, url=f"{counter.package}::counter::nothing")
    assert caught.value.code == "function_unknown"
