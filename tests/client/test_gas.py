import asyncio

import pytest

from nexus_tools.client import Coin
from nexus_tools.client.gas import GasCoins, budget_for, withdrawn
from nexus_tools.errors import NotNowError
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import GasCostSummary
from nexus_tools.sui.object import ObjectReference

RECIPIENT = Address.of(0xB0B)


def coin(number, balance, version=1):
    return Coin(ObjectReference(Address.of(number), version, Digest(bytes(32))), balance)


def pool(*coins):
    """Gas coins of a wallet that has these coins on chain, and the list to change them."""
    on_chain = list(coins)

    async def read():
        return tuple(on_chain)

    return GasCoins(read), on_chain


# --- What is taken from the gas coin


def test_splits_of_known_amounts_are_added_up():
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5, 7])
    builder.split_coins(coins[0], [3])
    builder.split_coins(builder.gas, [11])
    assert withdrawn(builder.finish()) == 23


def test_what_is_merged_into_the_gas_coin_is_not_counted_on():
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5])
    builder.merge_coins(builder.gas, [coins[0]])
    assert withdrawn(builder.finish()) == 5


def test_a_computed_amount_cannot_be_told():
    builder = TransactionBuilder()
    amount = builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [])
    from nexus_tools.sui.transaction import SplitCoins

    builder.command(SplitCoins(builder.gas, (amount,)))
    assert withdrawn(builder.finish()) is None


def test_a_gas_coin_that_is_given_away_cannot_be_told():
    for give in (
        lambda builder: builder.transfer_objects([builder.gas], RECIPIENT),
        lambda builder: builder.move_call(SUI_FRAMEWORK, "coin", "value", [builder.gas]),
        lambda builder: builder.make_move_vec([builder.gas], None),
        lambda builder: builder.merge_coins(builder.split_coins(builder.gas, [1]), [builder.gas]),
    ):
        builder = TransactionBuilder()
        give(builder)
        assert withdrawn(builder.finish()) is None


# --- Budgets


def test_a_budget_covers_computation_storage_and_a_thousand_units():
    cost = GasCostSummary(1_000_000, 5_000_000, 2_000_000, 20_000)
    assert budget_for(cost, 1_000) == 1_000_000 + 3_000_000 + 1_000_000


def test_a_rebate_larger_than_the_storage_does_not_pay_for_computation():
    cost = GasCostSummary(1_000_000, 1_000_000, 9_000_000, 90_000)
    assert budget_for(cost, 750) == 1_000_000 + 750_000


# --- Coins


async def test_the_largest_coin_pays_if_it_is_enough():
    coins, _ = pool(coin(1, 10), coin(2, 50), coin(3, 30))
    assert [taken.balance for taken in await coins.take(40)] == [50]


async def test_more_coins_pay_if_one_is_not_enough():
    coins, _ = pool(coin(1, 10), coin(2, 50), coin(3, 30))
    assert [taken.balance for taken in await coins.take(75)] == [50, 30]


async def test_as_much_as_wanted_is_taken_if_it_is_there():
    coins, _ = pool(coin(1, 10), coin(2, 50))
    assert [taken.balance for taken in await coins.take(20, wanted=1_000)] == [50, 10]


async def test_a_coin_that_is_an_input_does_not_pay():
    coins, _ = pool(coin(1, 10), coin(2, 50))
    assert [taken.balance for taken in await coins.take(5, exclude={Address.of(2)})] == [10]


async def test_too_little_is_said_in_sui():
    coins, _ = pool(coin(1, 1_500_000_000))
    with pytest.raises(NotNowError) as caught:
        await coins.take(2_000_000_000)
    assert caught.value.code == "not_enough_sui"
    assert "has 1.5 SUI" in caught.value.message
    assert "2 SUI are needed" in caught.value.message


async def test_money_that_came_in_meanwhile_is_found():
    coins, on_chain = pool(coin(1, 10))
    taken = await coins.take(5)
    await coins.give_back(taken, taken)
    on_chain.append(coin(2, 100))
    assert [taken.balance for taken in await coins.take(60)] == [100]


async def test_a_lagging_node_does_not_bring_an_old_version_back():
    coins, _ = pool(coin(1, 100, version=1))
    taken = await coins.take(5)
    await coins.give_back(taken, [coin(1, 90, version=2)])
    with pytest.raises(NotNowError):
        await coins.take(95)  # looks at the chain again, which still has the first version
    [left] = await coins.take(5)
    assert left.reference.version == 2


async def test_a_coin_in_use_is_waited_for():
    coins, _ = pool(coin(1, 100))
    taken = await coins.take(5)
    waiting = asyncio.create_task(coins.take(5))
    await asyncio.sleep(0)
    assert not waiting.done()
    await coins.give_back(taken, [coin(1, 90, version=2)])
    assert [left.balance for left in await waiting] == [90]
