"""A leader's loss is bounded for functions that fail only in the transaction."""

import pytest

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.executions import on_chain_calls
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.workflow import DIALECT, Document, Vertex, VertexKind
from tests.leader.on_chain.conftest import HERE, Counter

pytestmark = pytest.mark.anyio

GAS_MIST = 50_000_000
LIMIT_MIST = 60_000_000
DAY_MS = 24 * 60 * 60 * 1000
# One failed transaction with these inputs costs about 12 million MIST.
BURN = {"n": 13}


class Attack:
    """An attacker that closes the counter before the leader's transactions; records the cost."""

    def __init__(self, counter):
        self.counter = counter
        self.is_on = True
        self.reopens = True
        self.lost_mist = []

    async def before(self, _transaction):
        if self.is_on:
            await self.counter.set_closed(True)

    async def after(self, executed):
        if isinstance(executed.effects.status, ExecutionFailure):
            self.lost_mist.append(executed.cost.net)
        if self.is_on and self.reopens:
            await self.counter.set_closed(False)


@pytest.fixture
def attack(counter, monkeypatch):
    active_attack, send = Attack(counter), TransactionSender.send

    async def attacked(sender, transaction):
        await active_attack.before(transaction)
        executed = await send(sender, transaction)
        await active_attack.after(executed)
        return executed

    monkeypatch.setattr(TransactionSender, "send", attacked)
    return active_attack


@pytest.fixture
def simulated(monkeypatch):
    """Return the list of simulations of calls."""
    simulate, drafts = on_chain_calls.simulate_transaction, []

    async def noted(connection, draft):
        drafts.append(draft)
        return await simulate(connection, draft)

    monkeypatch.setattr(on_chain_calls, "simulate_transaction", noted)
    return drafts


async def reasons(world, tool, *inputs):
    """Request invocations in one transaction, and return their failure reasons or `settled`."""
    leaders = [world.known[-1].id]
    closed = await world.closed(*await world.request(tool, *inputs, leaders=leaders))
    states = [invocation.state for invocation in closed]
    return ["settled" if isinstance(state, State.Settled) else state.reason for state in states]


@pytest.mark.parametrize(
    "function",
    [
        "turn_and_abort",
        "turn_and_not_finish",
        "turn_and_answer_too_much",
        "turn_and_store",
        "turn_and_burn",
    ],
)
async def test_tool_that_turns_costs_the_leader_one_transaction(world, counter, attack, function):
    """The leader loses 10 to 17 million MIST, and the attacker spends 16 million."""
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition(function, gas=GAS_MIST))
    async with world.running(leader):
        assert await reasons(world, tool, BURN) == ["refused"]
        attack.is_on = False
        assert await reasons(world, tool, BURN) == ["refused"]
    assert len(attack.lost_mist) == 1


async def test_many_requests_in_one_transaction_cost_at_most_the_limit(world, counter, attack):
    """16 requests lose the gas of 3 calls, 31 million MIST; without accounts of 7, 72 million."""
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition("turn_and_abort", gas=GAS_MIST))
    attack.reopens = False
    async with world.running(leader):
        closed = await reasons(world, tool, *[BURN] * 16)
    assert set(closed) <= {"refused", "aborted"}
    assert 0 < sum(attack.lost_mist) <= LIMIT_MIST


async def test_author_that_turned_is_refused_under_other_names_and_after_restart(
    world, counter, attack
):
    leader = await world.new_leader()
    names = ["xyz.example.turn@1", "xyz.example.turn@2", "xyz.example.other@1"]
    same_name, version, same_package = [
        await world.register_tool(counter.definition("turn_and_abort", fqn=name, gas=GAS_MIST))
        for name in names
    ]
    async with world.running(leader):
        assert await reasons(world, same_name, BURN) == ["refused"]
        assert await reasons(world, version, BURN) == ["refused"]
    async with world.running(leader):
        assert await reasons(world, same_package, BURN) == ["refused"]
    assert len(attack.lost_mist) == 1


async def test_author_that_turns_every_day_costs_at_most_the_limit(world, counter, attack):
    """It loses 10 million MIST on each of the first 5 days, and nothing later."""
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition("turn_and_abort", gas=GAS_MIST))
    async with world.running(leader):
        for _ in range(8):
            assert await reasons(world, tool, BURN) == ["refused"]
            world.localnet.advance_clock(DAY_MS)
    assert 1 < len(attack.lost_mist) < 8
    assert sum(attack.lost_mist) <= LIMIT_MIST


async def test_execution_with_a_tool_that_turns_costs_one_transaction(world, counter, attack):
    """The tool does not finish. The leader used to dispatch the call 64 times before it failed."""
    leader = await world.new_leader()
    definition = counter.definition("turn_and_not_finish", gas=GAS_MIST)
    await world.register_tool(definition)
    vertex = Vertex("turn", str(definition.fqn), VertexKind.ON_CHAIN, entry_ports=("n",))
    workflow = await world.publish(Document((vertex,), (), dialect=DIALECT))
    async with world.running(leader):
        execution = await world.begin(workflow, {"turn": BURN}, max_price_mist=GAS_MIST)
        assert (await world.ended(execution)).status == "terminated"
    assert len(attack.lost_mist) == 1


# --- Honest tools


async def test_honest_call_is_simulated_once(world, counter, simulated):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition())
    async with world.running(leader):
        assert await reasons(world, tool, {"n": 1}) == ["settled"]
    assert len(simulated) == 1


async def test_concurrent_honest_calls_are_all_settled(world, counter, simulated, attack):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition("turn_and_abort", gas=GAS_MIST))
    attack.is_on = False
    async with world.running(leader):
        assert set(await reasons(world, tool, *[BURN] * 16)) == {"settled"}
    assert len(simulated) < 2 * 16
    assert await counter.total() == 16 * BURN["n"]


async def test_another_author_is_called_after_one_that_turned(world, counter, attack, linked):
    leader = await world.new_leader()
    tool = await world.register_tool(counter.definition("turn_and_abort", gas=GAS_MIST))
    async with world.running(leader):
        assert await reasons(world, tool, BURN) == ["refused"]
        attack.is_on = False
        modules, dependencies = linked(HERE / "move_tools", world.deployment)
        builder = TransactionBuilder()
        builder.transfer_objects([builder.publish(modules, dependencies)], world.client.address)
        other = Counter(world, await world.client.execute(builder))
        definition = other.definition(fqn="xyz.example.honest@1")
        honest = await world.register_tool(definition, declaration=await other.declaration())
        assert await reasons(world, honest, {"n": 1}) == ["settled"]
