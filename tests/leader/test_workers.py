"""The worker that sends, and the balance that pays, on a real chain."""

import asyncio
import secrets

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
MIST = 10**9
NOBODY = Address.of(0xDEAD)


@pytest.fixture
async def tool_on_chain(world, add_definition):
    return await world.register_tool(add_definition())


async def closings_of(world, bench, tool, count):
    ids = await world.request(tool, *[{"a": n, "b": 0} for n in range(count)])
    return [
        await bench.closing(invocation, Answer("ok", {"result": n}))
        for n, invocation in enumerate(ids)
    ]


async def spend_balance(world, key):
    """Spend the whole address balance of a key, as another program might."""
    async with world.client_of(key) as client:
        amount = (await client.balance_parts(key.address)).in_address
        builder = TransactionBuilder()
        right = builder.withdrawal(amount, SUI)
        coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [right], (SUI,))
        builder.transfer_objects([coin], NOBODY)
        await client.execute(builder)


async def spend_coins(world, key):
    """Spend the coins of a key, except for slightly less than a deposit costs."""
    async with world.client_of(key) as client:
        amount = (await client.balance_parts(key.address)).in_coins - 9_000_000
        builder = TransactionBuilder()
        builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], NOBODY)
        await client.execute(builder)


# --- Balances


async def test_deposit_fills_the_balance_only_as_needed(world, bench_of):
    identity = await world.new_leader(sui=20)
    address = identity.key.address
    async with bench_of(identity, enough_mist=3 * MIST, run=False) as bench:
        balance = await world.client.balance_parts(address)
        assert balance.in_address == 3 * MIST
        assert balance.in_coins > 6 * MIST
        await bench.workers.refresh()
        assert await world.client.balance_parts(address) == balance


async def test_budgets_in_flight_never_exceed_the_balance(world, bench_of):
    identity = await world.new_leader(sui=20)
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        third_began = asyncio.Event()

        async def third():
            async with bench.workers.select(400_000_000):
                third_began.set()

        async with bench.workers.select(400_000_000):
            async with bench.workers.select(400_000_000) as worker:
                assert worker.free_mist == 200_000_000
                waiting = asyncio.create_task(third())
                async with bench.workers.select(200_000_000):
                    assert worker.free_mist == 0
                    assert not third_began.is_set()
            async with asyncio.timeout(TIMEOUT_S):
                await waiting
        assert worker.free_mist == MIST


async def test_unaffordable_budget_is_refused_with_a_funding_hint(world, bench_of):
    identity = await world.new_leader(sui=11)
    async with bench_of(identity, run=False) as bench:
        with pytest.raises(WrongStateError) as caught:
            async with bench.workers.select(5 * MIST):
                pass
    assert caught.value.code == "not_enough_sui"
    assert str(identity.key.address) in caught.value.hint


async def test_worker_without_funds_continues_after_funding(world, tool_on_chain, bench_of):
    identity = await world.new_leader(sui=11)
    await spend_coins(world, identity.key)
    async with bench_of(identity) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 2)
        for closing in closings:
            bench.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.is_blocked.wait()
        assert "for gas" in bench.closer.trouble
        world.localnet.fund(identity.key.address, MIST)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 2
        assert bench.closer.trouble == ""


async def test_many_small_coins_are_deposited_in_several_transactions(world, bench_of):
    identity, key = (
        await world.new_leader(),
        KeyPair.from_secret(SignatureScheme.ED25519, secrets.token_bytes(32)),
    )
    async with world.client_of(identity.key) as client:
        await LeaderRegistry(client, world.deployment).add_worker(identity.id, key.address)
        for _ in range(2):
            builder = TransactionBuilder()
            parts = builder.split_coins(builder.gas, [MIST // 200] * 250)
            builder.transfer_objects(parts, key.address)
            await client.execute(builder)
    async with bench_of(identity, signers=[key], enough_mist=2 * MIST, run=False):
        balance = await world.client.balance_parts(key.address)
    assert balance.in_address == 2 * MIST


async def test_worker_closes_as_many_invocations_as_it_can_pay_for(world, tool_on_chain, bench_of):
    identity = await world.new_leader(sui=20)
    # Two cost at most 3 000 + 2 x 100 gas units of 1 000 MIST and some storage; three cost more.
    async with bench_of(identity, enough_mist=5_000_000, max_transactions=1) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 4)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 4
        assert bench.transactions() == 2


async def test_worker_can_pay_from_its_fees(world, tool_on_chain, bench_of):
    identity = await world.new_leader(sui=11)
    key = identity.key
    async with bench_of(identity, enough_mist=20_000_000) as bench:
        await spend_coins(world, key)
        for _ in range(3):
            closings = await closings_of(world, bench, tool_on_chain, 4)
            assert await bench.close(*closings) == [ClosureKind.SETTLED] * 4
        assert (await world.client.balance_parts(key.address)).in_address > 20_000_000
        await bench.workers.refresh()
        assert bench.workers.total_mist == await world.client.balance(key.address)


async def test_balance_spent_by_another_program_is_refilled_from_coins(
    world, tool_on_chain, bench_of
):
    identity = await world.new_leader(sui=20)
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 3)
        await spend_balance(world, identity.key)
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 3
        running.cancel()


# --- Epochs


async def test_transaction_is_rebuilt_after_its_epochs(world, tool_on_chain, bench_of):
    identity = await world.new_leader()
    async with bench_of(identity, run=False, error_retry_delay_ms=60_000) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 3)
        signed_in = bench.workers.epoch
        for _ in range(2):
            world.localnet.advance_epoch()
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 3
        assert bench.workers.epoch.number == signed_in.number + 2
        assert not bench.closer.is_blocked.is_set()
        running.cancel()


# --- Several workers


async def test_worker_with_the_largest_available_balance_sends_and_earns(
    world, tool_on_chain, bench_of
):
    identity = await world.new_leader()
    rich = await world.new_worker(identity, sui=5)
    signers = [identity.key, rich]
    async with bench_of(identity, signers=signers, enough_mist=4 * MIST, run=False) as bench:
        assert len(bench.workers.listed) == 2
        paying = bench.workers.select
        async with paying(3 * MIST) as first, paying(3 * MIST) as second:
            assert {first.address, second.address} == {signer.address for signer in signers}
        await spend_balance(world, identity.key)
        await spend_coins(world, identity.key)
        await bench.workers.refresh()
        before = (await world.client.balance_parts(rich.address)).in_address
        closings = await closings_of(world, bench, tool_on_chain, 4)
        running = asyncio.create_task(bench.closer.run())
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 4
        running.cancel()
        assert (await world.client.balance_parts(rich.address)).in_address > before


async def test_other_worker_closes_when_one_is_removed_which_is_logged_once(
    world, tool_on_chain, bench_of, logged
):
    identity = await world.new_leader()
    other = await world.new_worker(identity)
    async with bench_of(identity, signers=[identity.key, other], enough_mist=MIST // 2) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 6)
        async with world.client_of(identity.key) as owner:
            leaders = LeaderRegistry(owner, world.deployment)
            await leaders.remove_worker(identity.id, identity.key.address)
        assert await bench.close(*closings[:3]) == [ClosureKind.SETTLED] * 3
        assert await bench.close(*closings[3:]) == [ClosureKind.SETTLED] * 3
        await bench.workers.refresh()
        assert [worker.address for worker in bench.workers.listed] == [other.address]
        assert bench.workers.trouble == ""
    (warning,) = [line for line in logged if line["event"] == "worker_removed"]
    assert warning["worker"] == str(identity.key.address)


async def test_closing_stops_until_a_worker_is_added(world, tool_on_chain, bench_of, logged):
    identity = await world.new_leader()
    async with bench_of(identity) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 3)
        async with world.client_of(identity.key) as owner:
            leaders = LeaderRegistry(owner, world.deployment)
            await leaders.remove_worker(identity.id, identity.key.address)
            for closing in closings:
                bench.closer.queue.put(closing)
            async with asyncio.timeout(TIMEOUT_S):
                await bench.closer.is_blocked.wait()
            assert "worker" in bench.closer.trouble
            assert "worker" in bench.workers.trouble
            await leaders.add_worker(identity.id, identity.key.address)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 3
        assert (bench.closer.trouble, bench.workers.trouble) == ("", "")
    levels = [line["log_level"] for line in logged if line["event"] == "no_worker"]
    assert levels == ["error"]
    assert [line["event"] for line in logged].count("worker_added") == 1
