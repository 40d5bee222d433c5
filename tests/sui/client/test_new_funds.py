"""Funds that a wallet receives while its client runs, on a real node."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.client import GasSource, SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import SUI

MIST = 1_000_000_000
CAROL = Address.of(0xCA401)
# A payment passes the check for the smallest budget of 2 000 units at 1 000 MIST, but lacks MIST
# for the storage of a coin.
TOO_LITTLE_GAS = 2_000_001
READS = ("ListOwnedObjects", "GetBalance")


def pay(*amounts):
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, amounts)
    builder.transfer_objects([coins[number] for number in range(len(amounts))], CAROL)
    return builder


def read_clock():
    """Return a transaction that only needs gas: 1 000 000 MIST, and a budget of 2 000 000."""
    builder = TransactionBuilder()
    clock = builder.object(Address.of(6), mutable=False)
    builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [clock])
    return builder


@pytest.fixture
def open_client(localnet):
    """Open a client of a key that has these coins, and make the client read them."""

    @asynccontextmanager
    async def open_client(*coins, **options):
        key = KeyPair.new()
        localnet.fund(key.address, *coins)
        async with SuiClient(localnet.network, key, **options) as client:
            await client.simulate(read_clock())
            yield client

    return open_client


@pytest.fixture
async def client(open_client):
    async with open_client(MIST) as client:
        yield client


@pytest.fixture
def deposit(localnet, wallet):
    """Send funds to an address balance."""

    def deposit(recipient, amount):
        builder = TransactionBuilder()
        builder.deposit(builder.split_coins(builder.gas, [amount])[0], recipient, SUI)
        localnet.run(wallet.another().client.execute(builder))

    return deposit


def reads(calls):
    return {name: calls[name] for name in READS if calls[name]}


# --- Funds that arrive


async def test_new_coin_pays_gas_that_the_known_coin_lacks(client, localnet, calls):
    localnet.fund(client.address, 5 * MIST)
    calls.clear()
    executed = await client.execute(pay(MIST - TOO_LITTLE_GAS))
    assert calls == {"SimulateTransaction": 2, "ListOwnedObjects": 1, "ExecuteTransaction": 1}
    left = 5 * MIST + TOO_LITTLE_GAS - executed.cost.net
    assert await client.balance(client.address) == left


async def test_new_coin_pays_storage_that_exceeds_the_known_coin(open_client, localnet, calls):
    # The storage of 100 coins costs about 0.1 SUI, so the simulation runs out of gas.
    async with open_client(20_000_000) as client:
        localnet.fund(client.address, MIST)
        calls.clear()
        await client.execute(pay(*[1] * 100))
        assert calls == {"SimulateTransaction": 2, "ListOwnedObjects": 1, "ExecuteTransaction": 1}


async def test_new_funds_in_the_address_balance_pay_gas(client, deposit, calls):
    deposit(client.address, MIST)
    calls.clear()
    await client.execute(pay(MIST - TOO_LITTLE_GAS))
    assert reads(calls) == {"ListOwnedObjects": 1, "GetBalance": 1}


async def test_new_funds_pay_when_only_the_address_balance_pays(client, deposit, calls):
    gas = GasSource.ADDRESS_BALANCE
    deposit(client.address, 3_000_000)
    await client.execute(read_clock(), gas=gas)  # leaves 2 000 000 MIST, one budget
    await client.execute(read_clock(), gas=gas)
    deposit(client.address, MIST)
    calls.clear()
    await client.execute(read_clock(), gas=gas)
    assert reads(calls) == {"GetBalance": 1}


async def test_simulate_and_build_use_new_coins(client, localnet):
    localnet.fund(client.address, 5 * MIST)
    (await client.simulate(pay(MIST - TOO_LITTLE_GAS))).raise_for_status()
    localnet.fund(client.address, 100 * MIST)
    data = await client.build(pay(6 * MIST - TOO_LITTLE_GAS))
    await client.execute_transaction(data)
    assert await client.balance(CAROL) == 6 * MIST - TOO_LITTLE_GAS


async def test_new_coins_are_merged_when_they_are_too_many(open_client, localnet):
    merges = []
    async with open_client(MIST, on_merge=lambda *merge: merges.append(merge)) as client:
        for _ in range(3):
            localnet.fund(client.address, *[3_000_000] * 200)
        # The known coin and the 254 largest others contain 1.762 SUI, the wallet 2.8 SUI.
        await client.execute(pay(2 * MIST))
        assert await client.balance(CAROL) == 2 * MIST
        assert merges


# --- Funds that do not arrive


@pytest.mark.parametrize("amounts", [(MIST - TOO_LITTLE_GAS,), [1] * 400 + [MIST - 300_000_000]])
async def test_shortage_is_reported_after_one_read_of_the_funds(client, localnet, calls, amounts):
    localnet.fund(client.address, 1_000)
    calls.clear()
    with pytest.raises(WrongStateError) as caught:
        await client.execute(pay(*amounts))
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["available_mist"] == MIST + 1_000
    assert "the wallet has 1.000001 SUI" in caught.value.message
    assert calls["ExecuteTransaction"] == 0
    assert reads(calls) == {"ListOwnedObjects": 1, "GetBalance": 1}


async def test_new_client_reads_its_funds_once_for_a_shortage(localnet, calls):
    key = KeyPair.new()
    localnet.fund(key.address, MIST)
    calls.clear()
    async with SuiClient(localnet.network, key) as client:
        with pytest.raises(WrongStateError, match="the wallet has 1 SUI"):
            await client.execute(pay(MIST - TOO_LITTLE_GAS))
    assert reads(calls) == {"ListOwnedObjects": 1, "GetBalance": 1}


async def test_shortage_counts_new_funds(client, localnet, deposit):
    localnet.fund(client.address, 1_000)
    deposit(client.address, 500)
    with pytest.raises(WrongStateError) as caught:
        await client.execute(pay(MIST - TOO_LITTLE_GAS))
    assert caught.value.details["available_mist"] == MIST + 1_500


async def test_spent_coin_is_not_counted(client):
    async with SuiClient(client.network, client._signer) as other:
        await other.execute(pay(MIST // 2))
    left = await client.balance(client.address)
    with pytest.raises(WrongStateError) as caught:
        await client.execute(pay(MIST - TOO_LITTLE_GAS))
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["available_mist"] == left


# --- Parallel transactions


@pytest.mark.parametrize("parallel", [1, 4])
async def test_concurrent_shortages_read_the_funds_once(open_client, calls, parallel):
    async with open_client(*[MIST] * 4, parallel=parallel) as client:
        calls.clear()
        failures = await asyncio.gather(
            *(client.execute(pay(5 * MIST)) for _ in range(8)), return_exceptions=True
        )
    assert {failure.code for failure in failures} == {"not_enough_sui"}
    assert {failure.details["available_mist"] for failure in failures} == {4 * MIST}
    assert reads(calls) == {"ListOwnedObjects": 1, "GetBalance": 1}


@pytest.mark.parametrize("parallel", [1, 4])
async def test_concurrent_shortages_of_gas_read_the_funds_once(open_client, calls, parallel):
    async with open_client(MIST, parallel=parallel) as client:
        calls.clear()
        failures = await asyncio.gather(
            *(client.execute(pay(MIST - TOO_LITTLE_GAS)) for _ in range(4)),
            return_exceptions=True,
        )
    assert {failure.details["available_mist"] for failure in failures} == {MIST}
    assert reads(calls) == {"ListOwnedObjects": 1, "GetBalance": 1}


async def test_transaction_waits_for_coins_of_parallel_transactions(open_client):
    # Each transfer needs more than one coin. Three transfers use all coins except one.
    async with open_client(*[MIST] * 7, parallel=4) as client:
        amount = MIST - TOO_LITTLE_GAS
        await asyncio.gather(*(client.execute(pay(amount)) for _ in range(4)))
        assert await client.balance(CAROL) == 4 * amount


async def test_small_coins_pay_storage_that_exceeds_the_simulated_budget(open_client):
    # If a client is parallel, its first simulation uses 0.5 SUI. 600 coins cost 0.593 SUI.
    async with open_client(*[260_000_000] * 6, parallel=4) as client:
        builder = pay(*[1] * 300)
        coins = builder.split_coins(builder.gas, [1] * 300)
        builder.transfer_objects([coins[number] for number in range(300)], CAROL)
        await client.execute(builder)
        assert await client.balance(CAROL) == 600
