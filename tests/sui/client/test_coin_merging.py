"""Wallets with more coins than fit in a transaction."""

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.client import Coin, SuiClient
from nexus_tools.sui.client.transactions.coin_merging import coins_to_merge
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference

MIST = 1_000_000_000
CAROL = Address.of(0xCA401)
PRICE = 1_000


def pay(amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], CAROL)
    return builder


def coin(number, balance):
    return Coin(ObjectReference(Address.of(number), 1, Digest(bytes(32))), balance)


@pytest.fixture
def scatter(localnet):
    """Send an address many coins of one amount."""

    def scatter(recipient, count, funds_per_execution_mist):
        for start in range(0, count, 200):
            localnet.fund(recipient, *[funds_per_execution_mist] * min(200, count - start))

    return scatter


@pytest.fixture
async def merges():
    return []


@pytest.fixture
async def client(localnet, merges):
    def on_merge(executed, count):
        merges.append((executed, count))

    async with SuiClient(localnet.network, KeyPair.new(), on_merge=on_merge) as client:
        yield client


# --- Choice of coins


def test_coins_to_merge_pays_with_the_largest_coins():
    coins = [coin(number, 10_000_000) for number in range(300)]
    merged = coins_to_merge(coins, PRICE)
    # 10 000 units and 1 000 a coin at a price of 1 000 are 0.28 SUI: 28 or 29 coins of 0.01 SUI
    assert 270 <= len(merged) <= 272


def test_coins_to_merge_stops_at_the_transaction_size():
    assert (
        len(coins_to_merge([coin(0, MIST * 9), *map(coin, range(1, 3_000), [1] * 2_999)], 1))
        == 1_000
    )


def test_coins_to_merge_returns_nothing_when_gas_exceeds_the_coins():
    assert coins_to_merge([coin(number, 1_000) for number in range(400)], PRICE) == []


@pytest.mark.parametrize("count", [0, 1])
def test_coins_to_merge_returns_nothing_for_fewer_than_two_coins(count):
    assert coins_to_merge([coin(number, MIST) for number in range(count)], PRICE) == []


# --- On a node


async def test_payment_merges_coins_first_when_it_needs_too_many(client, scatter, merges):
    scatter(client.address, 600, 2_000_000)
    executed = await client.execute(pay(700_000_000))
    assert await client.balance(CAROL) == 700_000_000
    assert merges
    gas = executed.cost.net + sum(merge.cost.net for merge, _ in merges)
    assert await client.balance(client.address) == 1_200_000_000 - 700_000_000 - gas


async def test_simulation_shows_the_payment_without_merging(client, scatter, merges):
    scatter(client.address, 600, 2_000_000)
    simulated = await client.simulate(pay(700_000_000))
    simulated.raise_for_status()
    assert merges == []
    assert len(await client.coins(client.address)) == 600


async def test_build_hints_at_merging_when_coins_do_not_fit(client, scatter, merges):
    scatter(client.address, 300, 3_000_000)
    with pytest.raises(WrongStateError) as caught:
        await client.build(pay(800_000_000))
    assert "255 coins" in caught.value.message
    assert "wallet merge" in caught.value.hint
    assert merges == []


async def test_payment_merges_nothing_when_all_coins_are_too_small(client, scatter, merges):
    scatter(client.address, 300, 2_000_000)
    with pytest.raises(WrongStateError) as caught:
        await client.execute(pay(600_000_000))
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["available_mist"] == 600_000_000
    assert merges == []


async def test_merge_skips_coins_that_the_transaction_names(client, scatter):
    scatter(client.address, 400, 3_000_000)
    named = (await client.coins(client.address))[-1].reference.object_id
    builder = pay(900_000_000)
    builder.transfer_objects([builder.object(named)], CAROL)
    await client.execute(builder)
    assert await client.balance(CAROL) == 903_000_000


async def test_merge_coins_leaves_one_coin(client, scatter, merges):
    scatter(client.address, 1_300, 5_000_000)
    merged = await client.merge_coins()
    assert len(merged) == len(merges) == 2
    (left,) = await client.coins(client.address)
    assert left.balance == 1_300 * 5_000_000 - sum(transaction.cost.net for transaction in merged)


async def test_merge_coins_sends_nothing_for_one_coin(client, scatter):
    scatter(client.address, 1, MIST)
    assert await client.merge_coins() == ()
