"""Untrusted owners of many executions: a Leader loses less gas to them than they spend."""

from dataclasses import replace

import pytest

from nexus_tools.contracts import PackageClient, make_ports, ports_of
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.workflow import DEFAULT_GROUP, DIALECT, Document, Vertex, VertexKind
from tests.leader.conftest import new_key

pytestmark = pytest.mark.anyio

MINUTE_MS = 60_000


@pytest.fixture
def transactions(world, monkeypatch):
    """Return the list of results of the transactions that leaders send."""
    send, executed = TransactionSender.send, []

    async def noted(sender, transaction):
        executed.append(await send(sender, transaction))
        return executed[-1]

    monkeypatch.setattr(TransactionSender, "send", noted)
    return executed


async def begin_many(client, world, workflow, leader, count, *, inputs, funds_mist, duration_ms):
    """Start executions in one transaction; return their IDs and its computation cost in MIST."""
    settings = await world.leaders.settings()
    builder, package = TransactionBuilder(), world.deployment.workflows
    group = list(workflow.plan.groups).index(DEFAULT_GROUP)
    ports = make_ports(builder, world.deployment.package, ports_of(inputs))
    for _ in range(count):
        execution = moves.start(
            *(builder, package, world.deployment.leader_registry, settings.revision),
            *(workflow.id, group, leader.id, [50_000_000] * len(workflow.tools)),
            *(3_600_000, 100, 100, duration_ms),
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        moves.add_entry_values(builder, package, execution, 0, ports)
        moves.share(builder, package, execution)
    sent = await PackageClient(client, world.deployment).send(builder)
    begun = (event for event in world.parsed(sent) if isinstance(event, moves.ExecutionStarted))
    return [event.execution for event in begun], sent.cost.computation_cost


def single(fqn, **fields):
    return Document((Vertex("one", fqn, entry_ports=("n",), **fields),), (), dialect=DIALECT)


@pytest.fixture
async def unfinished(world, counter):
    """Publish a workflow whose tool anyone may call and whose function never answers."""
    definition = replace(counter.definition("without_answer", closed_by="anyone"), timeout_ms=1_000)
    await world.register_tool(definition)
    return await world.publish(single(str(definition.fqn), kind=VertexKind.ON_CHAIN, attempts=8))


async def test_leader_leaves_unpaid_executions_at_their_deadline_to_the_owner(
    world, unfinished, transactions, log
):
    leader = await world.new_leader()
    async with world.running(leader):
        terms = {"inputs": {"n": 1}, "funds_mist": 0, "duration_ms": 0}
        begun, _ = await begin_many(world.client, world, unfinished, leader, 10, **terms)
        # The Leader also logs later attempts, so an execution can have several lines.
        await log.wait_for_each("unprofitable", "execution", map(str, begun))
    assert transactions == []


async def test_executions_of_one_owner_share_their_credit(world, unfinished, transactions, log):
    leader = await world.new_leader()
    async with world.running(leader, max_unpaid_gas_units=2_000):
        terms = {"inputs": {"n": 1}, "funds_mist": 500_000_000, "duration_ms": 60 * MINUTE_MS}
        await begin_many(world.client, world, unfinished, leader, 10, **terms)
        await log.wait_for("unprofitable", 9)
    # A request costs more than 1 000 gas units, and an owner may owe 2 000 here.
    assert len(transactions) == 1


async def test_untrusted_party_with_many_addresses_spends_more_than_its_leader(
    world, unfinished, transactions, log
):
    """Count only the party's computation cost, as if all its deposits were refunded."""
    leader = await world.new_leader()
    count, owners, spent_mist = 3, [new_key() for _ in range(3)], 0
    terms = {"inputs": {"n": 1}, "funds_mist": 500_000_000, "duration_ms": 60 * MINUTE_MS}
    async with world.running(leader):
        for key in owners:
            world.localnet.fund(key.address, 10**10)
            async with world.client_of(key) as client:
                begun, began_mist = await begin_many(
                    client, world, unfinished, leader, count, **terms
                )
                await log.wait_for("unprofitable", count - 1)
                builder = TransactionBuilder()
                for execution in begun:
                    moves.cancel(builder, world.deployment.workflows, execution)
                sent = await PackageClient(client, world.deployment).send(builder)
                spent_mist += began_mist + sent.cost.computation_cost
    changes = [
        transaction.effects.address_balance_change(leader.key.address, SUI)
        for transaction in transactions
    ]
    assert 0 < -sum(changes) < spent_mist
