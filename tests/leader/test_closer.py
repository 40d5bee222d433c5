"""Batches against a real chain: what one transaction closes, and what happens when it cannot."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from nexus_tools.client import SuiClient, execute_transaction
from nexus_tools.leader.account import Account
from nexus_tools.leader.assignment import assignment
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.closer import Closer
from nexus_tools.leader.closing import Closed, Closing, ClosingBatch
from nexus_tools.leader.journal import Journal
from nexus_tools.leader.judgement import MAX_NAMES_BYTES
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.package.move.invocation import Invocation, InvocationRequested, State
from nexus_tools.registry import LeaderRegistry, outcome_bytes
from nexus_tools.tool import MAX_PORTS, Answer, Failure, FailureReason

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
DAY_MS = 86_400_000


@dataclass
class Bench:
    """A closer with all that it needs, for one leader."""

    closer: Closer
    chain: Chain
    account: Account
    journal: Journal
    metrics: LeaderMetrics

    async def closing(self, invocation, outcome):
        """An outcome in the journal, ready to be queued."""
        value = await self.chain.client.object(invocation)
        found = self.chain.deployment.decode(value, Invocation)
        mine = assignment(requested(found), self.chain.leader)
        await self.journal.record_events([mine], {}, "c", 0)
        await self.journal.known(invocation, outcome)
        return Closing(mine, outcome, outcome_bytes(outcome), value.owner.initial_version)

    async def close(self, *closings):
        for closing in closings:
            self.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            return [await closing.closed for closing in closings]

    def transactions(self):
        return self.metrics.registry.get_sample_value("nexus_leader_closing_size_count")


def requested(invocation):
    """The event with which an invocation began."""
    return InvocationRequested(
        invocation.id,
        invocation.tool,
        invocation.fqn,
        invocation.requester,
        invocation.leaders,
        invocation.requested_at_ms,
        invocation.timeout_ms,
        invocation.expires_at_ms,
        invocation.price_mist,
        invocation.refund_mist,
        invocation.max_outcome_bytes,
    )


@asynccontextmanager
async def bench_of(world, identity, *, run=True):
    async with SuiClient(world.client.network) as client:
        config = world.config(identity)
        chain = Chain(client, world.deployment, identity.id)
        account = Account(client, identity.key, identity.id)
        clock = ChainClock(client.now_ms, config.clock_interval_ms)
        await clock.refresh()
        journal = await Journal.open(config.journal, "identity")
        metrics = LeaderMetrics()
        closer = Closer(
            config,
            chain,
            leaders=await chain.leader_registry(),
            account=account,
            journal=journal,
            clock=clock,
            metrics=metrics,
        )
        task = asyncio.create_task(closer.run()) if run else None
        try:
            yield Bench(closer, chain, account, journal, metrics)
        finally:
            if task:
                task.cancel()
            await journal.close()


@pytest.fixture
async def tool_on_chain(world, add_definition):
    return await world.register_tool(add_definition())


def answer(number):
    return Answer("ok", {"result": number})


async def states(world, ids):
    return [(await world.invocations.get(each)).state for each in ids]


async def test_several_invocations_are_closed_by_one_transaction(world, tool_on_chain):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(5)])
    failed = Failure(FailureReason.TIMED_OUT, "too slow")
    async with bench_of(world, identity) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids[:4])]
        closings.append(await bench.closing(ids[4], failed))
        closed = await bench.close(*closings)
        assert closed == [Closed.SETTLED] * 4 + [Closed.FAILED]
        assert bench.transactions() == 1
        memory = await bench.journal.recall()
    found = await states(world, ids)
    assert [state.ports.as_json() for state in found[:4]] == [{"result": n} for n in range(4)]
    assert (found[4].reason, found[4].detail) == ("timed_out", "too slow")
    assert (memory.entries, memory.transactions) == ((), ())


@pytest.mark.parametrize(
    "ports",
    [
        {"result": 3, "text": "é" * 30_000},
        {f"port_{n}": n for n in range(MAX_PORTS)},
        {f"port_{n:0>{MAX_NAMES_BYTES // 32 - 5}}": n for n in range(32)},
        {},
    ],
)
async def test_an_answer_of_any_allowed_shape_is_settled(world, tool_on_chain, ports):
    identity = await world.new_leader()
    (one,) = await world.request(tool_on_chain, {"a": 1, "b": 2}, max_outcome_bytes=65_536)
    async with bench_of(world, identity) as bench:
        assert await bench.close(await bench.closing(one, Answer("ok", ports))) == ["settled"]
    (state,) = await states(world, [one])
    assert state.ports.as_json() == ports


async def test_one_that_was_closed_meanwhile_does_not_stop_the_others(world, tool_on_chain):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    async with bench_of(world, identity, run=False) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        async with world.client_of(identity.key) as client:
            invocations = type(world.invocations)(client, world.deployment)
            await invocations.close(identity.id, {ids[1]: answer(99)})
        running = asyncio.create_task(bench.closer.run())
        closed = await bench.close(*closings)
        running.cancel()
    assert closed == [Closed.SETTLED] * 4
    found = await states(world, ids)
    assert [state.ports.as_json()["result"] for state in found] == [0, 99, 2, 3]


async def test_one_that_is_too_late_does_not_stop_the_others(world, tool_on_chain):
    identity = await world.new_leader()
    (late,) = await world.request(tool_on_chain, {"a": 0, "b": 0})
    async with bench_of(world, identity) as bench:
        closings = [await bench.closing(late, answer(0))]
        window_ms = (await world.invocations.get(late)).window_ms
        world.localnet.advance_clock(window_ms)
        ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in (1, 2)])
        closings += [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        closed = await bench.close(*closings)
    assert closed == [Closed.MISSED, Closed.SETTLED, Closed.SETTLED]


async def test_one_that_the_chain_refuses_does_not_stop_the_others(world, tool_on_chain):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    too_large = Answer("ok", {"result": 1, "text": "x" * 2_000})
    async with bench_of(world, identity) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        closings[2] = await bench.closing(ids[2], too_large)
        for closing in closings:
            bench.closer.queue.put(closing)
        others = [closings[0], closings[1], closings[3]]
        async with asyncio.timeout(TIMEOUT_S):
            assert [await each.closed for each in others] == [Closed.SETTLED] * 3
        assert not closings[2].closed.done()
        world.localnet.advance_clock((await world.invocations.get(ids[2])).window_ms)
        async with asyncio.timeout(TIMEOUT_S):
            assert await closings[2].closed is Closed.MISSED


async def test_a_leader_without_gas_goes_on_when_it_has_some(world, tool_on_chain):
    identity = await world.new_leader(sui=11)
    async with world.client_of(identity.key) as client:
        builder = _send_all_but(client, await client.balance(client.address) - 10_000_000)
        await client.execute(builder)
    (one,) = await world.request(tool_on_chain, {"a": 1, "b": 2})
    async with bench_of(world, identity, run=False) as bench:
        closing = await bench.closing(one, answer(3))
        await bench.account.refresh()
        batch = ClosingBatch(world.deployment, await bench.chain.leader_registry(), [closing])
        assert bench.account.balance_mist < batch.budget_mist(1_000)
        running = asyncio.create_task(bench.closer.run())
        bench.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.troubled.wait()
        assert "SUI for gas" in bench.closer.trouble
        world.localnet.fund(identity.key.address, 10**9)
        assert await bench.close(closing) == [Closed.SETTLED]
        assert bench.closer.trouble == ""
        running.cancel()


def _send_all_but(client, amount):
    from nexus_tools.sui.builder import TransactionBuilder

    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [amount])[0]
    builder.transfer_objects([coin], type(client.address).of(0xDEAD))
    return builder


async def test_a_suspended_leader_goes_on_once_its_collateral_is_whole(world, tool_on_chain):
    identity = await world.new_leader()
    admin = LeaderRegistry(world.client, world.deployment)
    await admin.propose_slash(identity.id, 10**9, "a test", bytes(32))
    world.localnet.advance_clock(3 * DAY_MS)
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(3)])
    await admin.execute_slash(identity.id)
    async with bench_of(world, identity) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        for closing in closings:
            bench.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.troubled.wait()
        async with world.client_of(identity.key) as client:
            await LeaderRegistry(client, world.deployment).top_up(identity.id)
        async with asyncio.timeout(TIMEOUT_S):
            assert [await each.closed for each in closings] == [Closed.SETTLED] * 3


# --- After a crash


async def signed(bench, closings):
    """A closing transaction that is signed and written down, as before it is sent."""
    batch = ClosingBatch(bench.chain.deployment, await bench.chain.leader_registry(), closings)
    await bench.account.ensure(batch.budget_mist(await bench.account.price()))
    kind = batch.build(bench.account.cap_argument())
    transaction = bench.account.sign(bench.account.draft(kind, 100_000_000))
    await bench.journal.closing([one.assignment.invocation for one in closings], transaction)
    return transaction


@pytest.mark.parametrize("sent", [False, True])
async def test_a_transaction_that_was_signed_before_a_crash_is_executed_once(
    world, tool_on_chain, sent
):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(2)])
    async with bench_of(world, identity, run=False) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        transaction = await signed(bench, closings)
        if sent:
            connection = bench.chain.client.connection
            await execute_transaction(connection, transaction.data, transaction.signature)
    async with bench_of(world, identity, run=False) as bench:
        memory = await bench.journal.recall()
        assert memory.transactions == (transaction,)
        await bench.closer.recover(memory.transactions)
        executed = await bench.chain.client.transaction(transaction.digest)
        assert executed is not None
        assert (await bench.journal.recall()).transactions == ()
    assert all(isinstance(state, State.Settled) for state in await states(world, ids))


async def test_a_signed_transaction_that_became_stale_is_given_up(world, tool_on_chain):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(2)])
    async with bench_of(world, identity, run=False) as bench:
        closings = [await bench.closing(each, answer(n)) for n, each in enumerate(ids)]
        await signed(bench, closings)
        async with world.client_of(identity.key) as client:  # takes the same cap and gas
            await LeaderRegistry(client, world.deployment).deactivate(identity.id)
        await bench.closer.recover((await bench.journal.recall()).transactions)
        memory = await bench.journal.recall()
        assert [entry.stage for entry in memory.entries] == ["known", "known"]
        again = [replace_future(closing) for closing in closings]
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*again) == [Closed.SETTLED] * 2
        running.cancel()


def replace_future(closing):
    return replace(closing, closed=asyncio.get_running_loop().create_future())
