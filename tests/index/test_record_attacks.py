"""Attacks on the records of an index on a network, and what they cost."""

from contextlib import asynccontextmanager, closing

import pytest

from nexus_tools.contracts.move_bindings import leader as leader_calls
from nexus_tools.contracts.move_bindings import tool as tool_calls
from nexus_tools.index import Index, IndexWriter, SearchUpdate
from nexus_tools.registry import (
    Executions,
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Failure, FailureReason
from tests.index.conftest import ADD, ANSWER, HOUR_MS, SUI, WINDOW_MS
from tests.registry.sums import TWICE, sums
from tests.retry_policies import QUICK

pytestmark = pytest.mark.anyio

INPUTS = {"a": 1, "b": 2}
NEW = 0.5
PAYERS = 5
SOLD = "xyz.example.sold.sum"
UNREACHABLE = Failure(FailureReason.UNREACHABLE, "no route")
TOO_LARGE = Failure(FailureReason.OUTPUT_TOO_LARGE, "")
DAY_MS = 24 * HOUR_MS


class Attacker:
    """Accounts without a history, which request invocations of an honest tool."""

    def __init__(self, history):
        self.history = history
        self.spent_mist = 0

    @asynccontextmanager
    async def account(self, number):
        net = self.history.net
        key = KeyPair.from_bytes(b"\0" + bytes([150 + number] * 32))
        net.fund(key.address, SUI)
        async with SuiClient(net.network, key, retry_policy=QUICK) as client:
            yield Invocations(client, self.history.deployment)
            self.spent_mist += SUI - await client.balance(client.address)

    async def call(self, fqn, outcome, *, count=PAYERS, **terms):
        """Request an invocation by each of some new accounts, and let the leader close it."""
        tool = await self.history.tools.get(fqn)
        for number in range(count):
            async with self.account(number) as invocations:
                leaders = [self.history.leader]
                _, requested = await invocations.request(tool, INPUTS, leaders=leaders, **terms)
                await self.history.closings.close(self.history.leader, {requested: outcome})
                await invocations.delete(requested)


@pytest.fixture
def attacker(history):
    return Attacker(history)


@pytest.fixture
async def honest(history):
    """Register an honest free tool that accepts any leader."""
    await history.tools.register(Registration(history.define(ADD)))


@pytest.fixture
def indexed(new_index, pipeline):
    """Return a function that reads all new events, and returns the index for reading."""
    index = new_index()
    opened = []

    async def indexed():
        with closing(SearchUpdate(index)) as search:
            await pipeline(index, search=search).catch_up()
        opened.append(Index(index.path, index.identity))
        return opened[-1]

    yield indexed
    for reader in opened:
        reader.close()


def reputation(index, fqn=ADD):
    return index.tool(fqn).tool.reputation


async def test_requester_cannot_spoil_a_tool_by_a_small_outcome_limit(
    history, honest, attacker, indexed
):
    """The limit of 2 bytes is too small for any answer of the tool."""
    await attacker.call(ADD, TOO_LARGE, max_outcome_bytes=2)
    index = await indexed()
    assert reputation(index) == NEW
    mine = index.tool(ADD, requesters=[history.clients["user"].address]).tool.mine
    assert mine.closed == 0
    assert index.tool(ADD).windows.last_30_days.outcomes == {"output_too_large": PAYERS}


async def test_limitation_failing_calls_lower_the_reputation(history, honest, attacker, indexed):
    """Inputs that make a tool fail, or a leader that fails each call of a tool open to all."""
    await history.close(ADD)
    good = reputation(await indexed())
    await attacker.call(ADD, UNREACHABLE)
    index = await indexed()
    assert reputation(index) == (1 + 4) / (1 + 8 + PAYERS) < good
    assert 0.002 < attacker.spent_mist / PAYERS / SUI < 0.004
    user = history.clients["user"].address
    assert index.tool(ADD, requesters=[user]).tool.mine.outcomes == {"settled": 1}


async def test_requester_cannot_spoil_a_leader_by_invocations_that_it_misses(
    history, honest, indexed
):
    expired = await history.request(ADD)
    history.net.advance_clock(WINDOW_MS)
    await history.invocations.expire(expired)
    leader = (await indexed()).leader(history.leader).leader
    assert leader.reputation == NEW
    assert leader.record.outcomes == {"missed": 1}


async def test_limitation_refused_calls_lower_the_reputation_of_a_leader(
    history, attacker, indexed
):
    """Leaders refuse tools with private URLs. Leader selection does not use this reputation."""
    private = "xyz.example.private@1"
    await history.tools.register(Registration(history.define(private)))
    await attacker.call(private, Failure(FailureReason.REFUSED, ""))
    index = await indexed()
    assert index.leader(history.leader).leader.reputation == 4 / (8 + PAYERS)
    assert reputation(index, private) == NEW


async def test_backup_leader_is_not_judged_for_the_first_leader(history, honest, indexed):
    """The attacker's leader is the first one. It fails the call, or does not answer at all."""
    others = LeaderRegistry(history.clients["owner"], history.deployment)
    _, evil = await others.register("evil", activate=True)
    failed = await history.request(ADD, leaders=[evil, history.leader])
    closings = Invocations(history.clients["owner"], history.deployment)
    await closings.close(evil, {failed: Failure(FailureReason.REFUSED, "")})
    index = await indexed()
    assert index.leader(history.leader).leader.record.closed == 0
    silent = await history.request(ADD, leaders=[evil, history.leader])
    history.net.advance_clock(WINDOW_MS)
    await history.closings.close(history.leader, {silent: ANSWER})
    index = await indexed()
    assert index.leader(history.leader).leader.record.outcomes == {"settled": 1}
    assert index.leader(evil).leader.record.outcomes == {"refused": 1, "missed": 1}


async def test_registering_again_neither_deletes_nor_improves_a_record(history, honest, indexed):
    await history.close(ADD, UNREACHABLE)
    before = reputation(await indexed())
    await history.tools.unregister(ADD)
    assert (await indexed()).search("add").items == ()
    history.net.advance_clock(8 * DAY_MS)
    await history.tools.claim(ADD)
    await history.tools.re_register(ADD)
    index = await indexed()
    assert [item.tool.fqn for item in index.search("add").items] == [ADD]
    assert reputation(index) == before < NEW


async def test_limitation_new_owner_of_a_name_gets_its_record(history, honest, indexed):
    """The new owner can change the URL of the tool. This costs only gas."""
    await history.close(ADD)
    before = reputation(await indexed())
    unversioned = ADD.partition("@")[0]
    await history.tools.offer(unversioned, history.clients["admin"].address)
    await ToolRegistry(history.clients["admin"], history.deployment).accept(unversioned)
    index = await indexed()
    assert index.tool(ADD).tool.owner == history.clients["admin"].address
    assert reputation(index) == before > NEW


async def run_sum(history, publisher, fqn):
    """Publish a workflow by an account, let the user start it, and close its first run."""
    workflows = Workflows(history.clients[publisher], history.deployment)
    await workflows.publish(sums(*TWICE), fqn, "Adds three numbers.")
    executions = Executions(history.clients["user"], history.deployment)
    workflow = await workflows.get(fqn)
    started = await executions.start(workflow, INPUTS, leaders=[history.leader])
    return started.execution


async def close_runs(history, index, execution):
    runs = index.invocations(execution=execution).items
    outcomes = {run.id: ANSWER for run in runs}
    await history.closings.close(history.leader, outcomes)
    return len(outcomes)


async def test_runs_of_a_foreign_workflow_are_not_the_own_experience(history, honest, indexed):
    """The user is the requester of all runs, but the publisher chose the tools of the workflow."""
    user = history.clients["user"].address
    for publisher, own in (("owner", 0), ("user", 1)):
        execution = await run_sum(history, publisher, f"xyz.example.{publisher}.sum@1")
        assert await close_runs(history, await indexed(), execution) == 1
        index = await indexed()
        [run] = index.invocations(execution=execution).items
        assert (run.requester, run.outcome) == (user, "settled")
        assert index.tool(ADD, requesters=[user]).tool.mine.closed == own
    assert index.tool(ADD).tool.record.outcomes == {"settled": 2}
    assert index.leader(history.leader, requesters=[user]).leader.mine.outcomes == {"settled": 2}


async def test_sold_workflow_keeps_the_publisher(history, honest, new_index, pipeline):
    """The buyer of a name gets workflows in which another account chose the tools."""
    execution = await run_sum(history, "owner", f"{SOLD}@1")
    index = new_index()
    await pipeline(index).catch_up()
    user = history.clients["user"].address
    with closing(Index(index.path, index.identity)) as reader:
        await close_runs(history, reader, execution)
        tools = ToolRegistry(history.clients["owner"], history.deployment)
        await tools.offer(SOLD, user)
        await ToolRegistry(history.clients["user"], history.deployment).accept(SOLD)
        await pipeline(index).catch_up()
        assert reader.workflows().items[0].owner == user
        assert reader.tool(ADD, requesters=[user]).tool.mine.closed == 0
        IndexWriter(index, history.deployment).derive()
        assert reader.tool(ADD, requesters=[user]).tool.mine.closed == 0


async def test_events_that_fill_the_index_cost_gas(history, honest, indexed):
    """25 events with texts of 6 kB, and 1 000 changes of a leader, in one transaction each.

    One SUI buys about 38 MB of events, or about 9 000 events that the indexer reads in seconds.
    """
    url = f"https://tools.example.com/{'y' * 2_000}"
    await history.tools.update(ADD, url=url, description="x" * 4_096)
    before = (await indexed()).status().events
    owner, leader = history.clients["owner"], history.clients["leader"]
    deployment, tool = history.deployment, await history.tools.get(ADD)
    funds_mist = await owner.balance(owner.address), await leader.balance(leader.address)
    builder = TransactionBuilder()
    for number in range(25):
        text = f"{number:2} {'x' * 4_093}"
        terms = deployment.package, tool.id, tool.name, deployment.tool_registry, text
        tool_calls.update_description(builder, *terms)
    await history.tools.send(builder)
    builder = TransactionBuilder()
    for _ in range(500):
        leader_calls.deactivate(builder, deployment.package, history.leader)
        terms = deployment.package, history.leader, deployment.leader_registry
        leader_calls.activate(builder, *terms)
    await LeaderRegistry(leader, deployment).send(builder)
    assert (await indexed()).status().events - before == 25 + 1_000
    texts_mist = funds_mist[0] - await owner.balance(owner.address)
    changes_mist = funds_mist[1] - await leader.balance(leader.address)
    assert texts_mist > 25 * 100_000
    assert changes_mist > 1_000 * 100_000
