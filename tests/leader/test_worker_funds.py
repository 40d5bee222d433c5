"""Funds that workers have on the chain, but that the Leader does not know yet."""

import asyncio

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import SUI
from tests.node_requests import count_requests

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
MIST = 10**9
NOBODY = Address.of(0xDEAD)


@pytest.fixture
def deposit(world):
    """Deposit funds in an address balance, as a tool's payment does."""

    async def deposit(recipient, amount):
        builder = TransactionBuilder()
        builder.deposit(builder.split_coins(builder.gas, [amount])[0], recipient, SUI)
        await world.client.execute(builder)

    return deposit


async def spend(world, key, amount):
    """Spend a part of the address balance of a key, and return the transaction."""
    async with world.client_of(key) as client:
        builder = TransactionBuilder()
        money = builder.withdrawal(amount, SUI)
        coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [money], (SUI,))
        builder.transfer_objects([coin], NOBODY)
        return await client.execute(builder)


async def select(bench, budget_mist):
    async with asyncio.timeout(TIMEOUT_S), bench.workers.select(budget_mist) as worker:
        return worker.balance_mist


async def test_balance_is_read_again_after_waiting(world, bench_of, deposit):
    identity = await world.new_leader(sui=12)
    address = identity.key.address
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        async with bench.workers.select(MIST) as worker:
            await deposit(address, MIST)
            waiting = asyncio.create_task(select(bench, MIST * 3 // 2))
            await asyncio.sleep(0)
            await bench.workers.refresh()  # after the refresh of the waiting transaction
            assert worker.balance_mist == 2 * MIST
            await deposit(address, 2 * MIST)
            worker.apply_effects(await spend(world, identity.key, MIST))
            assert worker.balance_mist == MIST
        assert await waiting == 3 * MIST


async def test_coins_are_deposited_for_a_budget_above_the_target(world, bench_of):
    identity = await world.new_leader(sui=20)
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        assert await select(bench, 5 * MIST) == 5 * MIST


async def test_shortage_counts_all_funds(world, bench_of):
    identity = await world.new_leader(sui=12)
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        had_mist = await world.client.balance(identity.key.address)
        with pytest.raises(WrongStateError) as caught:
            await select(bench, 5 * MIST)
        left = await world.client.balance_parts(identity.key.address)
    assert caught.value.code == "not_enough_sui"
    assert left.in_coins <= 10_000_000
    assert had_mist - left.total < 10_000_000


async def test_concurrent_transactions_read_new_funds_once(world, bench_of, deposit, monkeypatch):
    identity = await world.new_leader(sui=12)
    async with bench_of(identity, enough_mist=MIST, run=False) as bench:
        await deposit(identity.key.address, 5 * MIST)
        requests = count_requests(monkeypatch)
        await asyncio.gather(*(select(bench, 2 * MIST) for _ in range(5)))
    assert requests["GetBalance"] == 1
