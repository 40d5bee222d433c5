"""Batches on a real chain: successful transactions and failures."""

import asyncio
from dataclasses import replace

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.registry import LeaderRegistry
from nexus_tools.tool import MAX_PORTS, Answer, Failure, FailureReason, OutcomeSignature, SigningKey
from nexus_tools.tool.signing.signed_outcome import outcome_message

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
DAY_MS = 86_400_000


@pytest.fixture
async def tool_on_chain(world, add_definition):
    return await world.register_tool(add_definition())


def answer(number):
    return Answer("ok", {"result": number})


async def states(world, ids):
    return [(await world.invocations.get(object_id)).state for object_id in ids]


async def test_one_transaction_closes_several_invocations(world, tool_on_chain, bench_of):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(5)])
    failed = Failure(FailureReason.TIMED_OUT, "too slow")
    async with bench_of(identity) as bench:
        closings = [
            await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids[:4])
        ]
        closings.append(await bench.closing(ids[4], failed))
        closed = await bench.close(*closings)
        assert closed == [ClosureKind.SETTLED] * 4 + [ClosureKind.FAILED]
        assert bench.transactions() == 1
        memory = await bench.journal.recover()
    result = await states(world, ids)
    assert [state.ports.as_json() for state in result[:4]] == [{"result": n} for n in range(4)]
    assert result[4].reason == "timed_out"
    assert memory.entries == ()


@pytest.mark.parametrize(
    "ports",
    [
        {"result": 3, "text": "é" * 30_000},
        {f"port_{n}": n for n in range(MAX_PORTS)},
        {f"port_{n:0>95}": n for n in range(MAX_PORTS)},
        {},
    ],
)
async def test_answer_of_any_allowed_shape_is_settled(world, tool_on_chain, ports, bench_of):
    identity = await world.new_leader()
    (one,) = await world.request(tool_on_chain, {"a": 1, "b": 2}, max_outcome_bytes=65_536)
    async with bench_of(identity) as bench:
        assert await bench.close(await bench.closing(one, Answer("ok", ports))) == ["settled"]
    (state,) = await states(world, [one])
    assert state.ports.as_json() == ports


async def close_by_hand(world, identity, outcomes):
    """Close invocations with the leader's own key, as an earlier run may have done."""
    async with world.client_of(identity.key) as client:
        await type(world.invocations)(client, world.deployment).close(identity.id, outcomes)


async def test_batch_skips_closed_invocations_and_closes_the_others(
    world,
    tool_on_chain,
    bench_of,
):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    async with bench_of(identity, run=False) as bench:
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        await close_by_hand(world, identity, {ids[1]: answer(99)})
        running = asyncio.create_task(bench.closer.run())
        closed = await bench.close(*closings)
        assert bench.transactions() == 1
        running.cancel()
    assert closed == [ClosureKind.SETTLED] * 4
    assert closings[0].fee_mist > 1_000_000
    assert closings[1].fee_mist is None
    result = await states(world, ids)
    assert [state.ports.as_json()["result"] for state in result] == [0, 99, 2, 3]


async def test_invocation_closed_by_another_leader_is_closed_elsewhere(
    world, tool_on_chain, bench_of
):
    identity, other = await world.new_leader("first"), await world.new_leader("other")
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(2)])
    async with bench_of(identity, run=False) as bench:
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        world.localnet.advance_clock((await world.invocations.get(ids[0])).window_ms)
        await close_by_hand(world, other, {ids[1]: answer(99)})
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*closings) == [ClosureKind.SETTLED, ClosureKind.ELSEWHERE]
        running.cancel()


async def test_batch_skips_late_invocations_and_closes_the_others(
    world,
    tool_on_chain,
    bench_of,
):
    identity = await world.new_leader()
    (late,) = await world.request(tool_on_chain, {"a": 0, "b": 0})
    async with bench_of(identity, run=False) as bench:
        closings = [await bench.closing(late, answer(0))]
        world.localnet.advance_clock((await world.invocations.get(late)).window_ms - 1)
        ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in (1, 2)])
        closings += [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        await bench.closer._clock.refresh()
        world.localnet.advance_clock(1)
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*closings) == [
            ClosureKind.MISSED,
            ClosureKind.SETTLED,
            ClosureKind.SETTLED,
        ]
        assert bench.transactions() == 1
        running.cancel()


async def test_batch_removes_a_deleted_invocation_and_closes_the_others(
    world,
    tool_on_chain,
    bench_of,
):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    async with bench_of(identity, run=False, error_retry_delay_ms=60_000) as bench:
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        await close_by_hand(world, identity, {ids[1]: answer(99)})
        await world.invocations.delete(ids[1])
        running = asyncio.create_task(bench.closer.run())
        closed = await bench.close(*closings)
        assert not bench.closer.is_blocked.is_set()
        running.cancel()
    assert closed == [
        ClosureKind.SETTLED,
        ClosureKind.ELSEWHERE,
        ClosureKind.SETTLED,
        ClosureKind.SETTLED,
    ]


async def test_refused_invocation_does_not_block_the_others(world, tool_on_chain, bench_of):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    too_large = Answer("ok", {"result": 1, "text": "x" * 2_000})
    async with bench_of(identity) as bench:
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        closings[2] = await bench.closing(ids[2], too_large)
        for closing in closings:
            bench.closer.queue.put(closing)
        others = [closings[0], closings[1], closings[3]]
        async with asyncio.timeout(TIMEOUT_S):
            assert [await other.closed for other in others] == [ClosureKind.SETTLED] * 3
        assert not closings[2].closed.done()
        world.localnet.advance_clock((await world.invocations.get(ids[2])).window_ms)
        async with asyncio.timeout(TIMEOUT_S):
            assert await closings[2].closed is ClosureKind.MISSED


async def test_suspended_leader_continues_after_its_collateral_is_restored(
    world, tool_on_chain, bench_of
):
    identity = await world.new_leader()
    await world.leaders.propose_slash(identity.id, 10**9, "a test", bytes(32))
    world.localnet.advance_clock(3 * DAY_MS)
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(3)])
    await world.leaders.execute_slash(identity.id)
    async with bench_of(identity) as bench:
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        for closing in closings:
            bench.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.is_blocked.wait()
        assert "suspended" in bench.closer.trouble
        remedy = f"nexus-tools leader top-up --leader {identity.id}"
        expected = f"Its owner must restore 1 SUI of collateral with `{remedy}`"
        assert bench.workers.trouble.endswith(expected)
        async with world.client_of(identity.key) as client:
            await LeaderRegistry(client, world.deployment).top_up(identity.id)
        async with asyncio.timeout(TIMEOUT_S):
            assert [await closing.closed for closing in closings] == [ClosureKind.SETTLED] * 3
        await bench.workers.refresh()
        assert (bench.closer.trouble, bench.workers.trouble) == ("", "")


# --- Concurrent transactions


async def test_several_transactions_are_in_flight_while_the_node_is_slow(
    world,
    tool_on_chain,
    bench_of,
):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(8)])
    async with Gateway(world.localnet.url).running() as gateway:
        sides = {"max_batch_size": 2, "max_transactions": 3}
        async with bench_of(identity, url=gateway.network.url, **sides) as bench:
            closings = [
                await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)
            ]
            gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
            closing = asyncio.create_task(bench.close(*closings))
            await gateway.asked("ExecuteTransaction", 9)
            assert bench.value("closing_transactions") == 3
            gateway.mend("ExecuteTransaction")
            assert await closing == [ClosureKind.SETTLED] * 8
            assert bench.transactions() == 4
    assert await world.closings(8) == dict.fromkeys(ids, 1)


async def test_closings_that_wait_for_a_slot_share_a_transaction(world, tool_on_chain, bench_of):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(9)])
    async with Gateway(world.localnet.url).running() as gateway:
        url = gateway.network.url
        async with bench_of(identity, url=url, max_transactions=1) as bench:
            closings = [
                await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)
            ]
            gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE)
            bench.closer.queue.put(closings[0])
            await gateway.asked("ExecuteTransaction", 1)
            closing = asyncio.create_task(bench.close(*closings))
            gateway.mend("ExecuteTransaction")
            assert await closing == [ClosureKind.SETTLED] * 9
            assert bench.transactions() == 2


async def test_closings_are_not_paid_twice_when_the_node_denies_them(
    world, tool_on_chain, bench_of
):
    identity = await world.new_leader()
    ids = await world.request(tool_on_chain, *[{"a": n, "b": 0} for n in range(4)])
    async with (
        Gateway(world.localnet.url).running() as gateway,
        bench_of(identity, url=gateway.network.url) as bench,
    ):
        closings = [await bench.closing(invocation, answer(n)) for n, invocation in enumerate(ids)]
        denied = (StatusCode.INVALID_ARGUMENT, "object version is unavailable", True)
        lost = (StatusCode.UNAVAILABLE, "connection reset", True)
        gateway.fail_in_turn("ExecuteTransaction", lost, denied, denied)
        gateway.fail("GetTransaction", StatusCode.NOT_FOUND, "Transaction not found")
        await bench.close(*closings)
    assert await world.closings(4) == dict.fromkeys(ids, 1)


# --- Signed answers


@pytest.fixture
async def signing(world, add_definition):
    """Return a tool whose answers must be signed, and its key."""
    key = SigningKey.new()
    terms = {"keys": (key.public_key,), "requires_signed_outcome": True}
    return await world.register_tool(add_definition(), **terms), key


async def sign_answer(world, key, invocation, number):
    """Return a signed answer to an invocation."""
    inputs = (await world.invocations.get(invocation)).inputs.as_json()
    message = outcome_message(bytes(invocation), inputs, answer(number))
    signature = OutcomeSignature(key.public_key, key.private.sign(message))
    return replace(answer(number), signature=signature)


async def test_signed_answers_and_failures_share_a_transaction(world, signing, bench_of):
    tool, key = signing
    identity = await world.new_leader()
    ids = await world.request(tool, *[{"a": n, "b": 0} for n in range(3)])
    async with bench_of(identity) as bench:
        closings = [
            await bench.closing(ids[0], await sign_answer(world, key, ids[0], 7)),
            await bench.closing(ids[1], Failure(FailureReason.TIMED_OUT, "too slow")),
            await bench.closing(ids[2], await sign_answer(world, key, ids[2], 8)),
        ]
        # The new key has no effect on invocations that were requested before.
        await world.tools.remove_key(tool.definition.parse().fqn, key.public_key)
        closed = await bench.close(*closings)
        assert bench.transactions() == 1
    assert closed == [ClosureKind.SETTLED, ClosureKind.FAILED, ClosureKind.SETTLED]
    result = await states(world, ids)
    assert [result[place].ports.as_json() for place in (0, 2)] == [{"result": 7}, {"result": 8}]


async def test_refused_signature_does_not_block_the_others(world, signing, bench_of):
    tool, key = signing
    identity = await world.new_leader()
    ids = await world.request(tool, *[{"a": n, "b": 0} for n in range(3)])
    async with bench_of(identity) as bench:
        closings = [
            await bench.closing(one, await sign_answer(world, key, one, n))
            for n, one in enumerate(ids)
        ]
        closings[1].outcome = replace(closings[1].outcome, variant="err_other")
        for closing in closings:
            bench.closer.queue.put(closing)
        others = [closings[0], closings[2]]
        async with asyncio.timeout(TIMEOUT_S):
            assert [await other.closed for other in others] == [ClosureKind.SETTLED] * 2
        assert not closings[1].closed.done()
