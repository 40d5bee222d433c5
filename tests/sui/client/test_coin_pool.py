import asyncio
from types import SimpleNamespace

import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.client import Balance, Coin, GasSource
from nexus_tools.sui.client.coins.coin_pool import EVERYTHING, CoinPool, Payment
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference


def coin(number, balance, version=1):
    return Coin(ObjectReference(Address.of(number), version, Digest(bytes(32))), balance)


def pool(*coins, balance=0):
    """Return a purse of a wallet with these coins on chain, and its mutable state."""
    on_chain = SimpleNamespace(coins=list(coins), balance=balance, coin_looks=0, looks=0)

    async def read_coins():
        on_chain.coin_looks += 1
        return tuple(on_chain.coins)

    async def read_balance():
        on_chain.looks += 1
        return Balance(sum(coin.balance for coin in on_chain.coins), on_chain.balance)

    return CoinPool(read_coins, read_balance), on_chain


def parts(payment):
    return [coin.balance for coin in payment.coins], payment.reserved


# --- Coins


async def test_largest_coin_pays_if_it_suffices():
    purse, _ = pool(coin(1, 10), coin(2, 50), coin(3, 30))
    assert parts(await purse.reserve(40)) == ([50], 0)


async def test_more_coins_pay_if_one_does_not_suffice():
    purse, _ = pool(coin(1, 10), coin(2, 50), coin(3, 30))
    assert parts(await purse.reserve(75)) == ([50, 30], 0)


async def test_take_returns_the_wanted_amount_if_available():
    purse, _ = pool(coin(1, 10), coin(2, 50))
    assert parts(await purse.reserve(20, wanted=1_000)) == ([50, 10], 0)


async def test_coin_that_is_an_input_does_not_pay():
    purse, _ = pool(coin(1, 10), coin(2, 50))
    assert parts(await purse.reserve(5, exclude={Address.of(2)})) == ([10], 0)


async def test_shortage_is_reported_in_sui():
    purse, _ = pool(coin(1, 1_500_000_000))
    with pytest.raises(WrongStateError) as caught:
        await purse.reserve(2_000_000_000)
    assert caught.value.code == "not_enough_sui"
    assert "has 1.5 SUI" in caught.value.message
    assert "the operation needs about 2 SUI" in caught.value.message


async def test_new_funds_are_found():
    purse, on_chain = pool(coin(1, 10))
    taken = await purse.reserve(5)
    await purse.release(taken, taken)
    on_chain.coins.append(coin(2, 100))
    assert parts(await purse.reserve(60)) == ([100], 0)


async def test_lagging_node_does_not_restore_an_old_version():
    purse, _ = pool(coin(1, 100, version=1))
    taken = await purse.reserve(5)
    await purse.release(taken, Payment((coin(1, 90, version=2),)))
    with pytest.raises(WrongStateError):
        await purse.reserve(95)  # reads the chain again, which still has the first version
    [left] = (await purse.reserve(5)).coins
    assert left.reference.version == 2


async def test_take_waits_for_a_coin_in_use():
    purse, _ = pool(coin(1, 100))
    taken = await purse.reserve(5)
    waiting = asyncio.create_task(purse.reserve(5))
    await asyncio.sleep(0)
    assert not waiting.done()
    await purse.release(taken, Payment((coin(1, 90, version=2),)))
    assert parts(await waiting) == ([90], 0)


# --- The address balance


async def test_address_balance_is_not_read_while_coins_suffice():
    purse, on_chain = pool(coin(1, 10), coin(2, 50), balance=100)
    assert parts(await purse.reserve(40, wanted=1_000)) == ([50, 10], 0)
    assert on_chain.looks == 0


async def test_address_balance_pays_the_remainder_of_coins():
    purse, _ = pool(coin(1, 10), coin(2, 50), balance=100)
    assert parts(await purse.reserve(75)) == ([50, 10], 15)


async def test_known_address_balance_adds_to_the_wanted_amount():
    purse, on_chain = pool(coin(1, 10), balance=100)
    taken = await purse.reserve(75)
    await purse.release(taken, taken)
    assert parts(await purse.reserve(5, wanted=1_000)) == ([10], 100)
    assert on_chain.looks == 1


async def test_address_balance_pays_without_coins():
    purse, _ = pool(balance=100)
    assert parts(await purse.reserve(75)) == ([], 75)


async def test_address_balance_source_leaves_the_coins():
    purse, _ = pool(coin(1, 500), balance=100)
    payment = await purse.reserve(75, source=GasSource.ADDRESS_BALANCE)
    assert parts(payment) == ([], 75)
    assert parts(await purse.reserve(5)) == ([500], 0)


async def test_pending_payments_never_exceed_the_address_balance():
    purse, _ = pool(balance=100)
    first = await purse.reserve(60, source=GasSource.ADDRESS_BALANCE)
    waiting = asyncio.create_task(purse.reserve(60, source=GasSource.ADDRESS_BALANCE))
    await asyncio.sleep(0)
    assert not waiting.done()
    await purse.release(first, Payment(reserved=first.reserved - 10))
    assert parts(await waiting) == ([], 60)


async def test_address_balance_source_does_not_wait_for_coins():
    purse, _ = pool(coin(1, 500), balance=100)
    await purse.reserve(5)
    with pytest.raises(WrongStateError):
        await purse.reserve(101, source=GasSource.ADDRESS_BALANCE)


async def test_unneeded_reservation_is_freed_at_once():
    purse, _ = pool(coin(1, 10), balance=100)
    taken = await purse.reserve(20, wanted=1_000)
    assert parts(taken) == ([10], 100)
    taken = await purse.reduce(taken, 25)
    assert parts(taken) == ([10], 15)
    assert parts(await purse.reserve(85, source=GasSource.ADDRESS_BALANCE)) == ([], 85)


async def test_address_balance_is_released_when_coins_suffice():
    purse, _ = pool(coin(1, 10), balance=100)
    await purse.release(await purse.reserve(20), Payment((coin(1, 10, version=2),), 100))
    taken = await purse.reserve(5, wanted=1_000)
    assert parts(await purse.reduce(taken, 7)) == ([10], 0)


async def test_withdrawals_of_commands_do_not_pay():
    purse, _ = pool(balance=100)
    assert parts(await purse.reserve(10, wanted=1_000, withdrawals=70)) == ([], 30)


async def test_request_for_everything_gets_both_kinds():
    purse, _ = pool(coin(1, 10), coin(2, 50), balance=100)
    assert parts(await purse.reserve(5, wanted=EVERYTHING)) == ([50, 10], 100)


async def test_shortage_counts_both_kinds():
    purse, _ = pool(coin(1, 1_500_000_000), balance=250_000_000)
    with pytest.raises(WrongStateError) as caught:
        await purse.reserve(2_000_000_000)
    assert caught.value.code == "not_enough_sui"
    assert "the wallet has 1.75 SUI" in caught.value.message
    assert caught.value.details["lacking_mist"] == 250_000_000


async def test_shortage_names_only_the_address_balance():
    purse, _ = pool(coin(1, 5_000_000_000), balance=250_000_000)
    with pytest.raises(WrongStateError, match=r"address balance has 0\.25 SUI"):
        await purse.reserve(1_000_000_000, source=GasSource.ADDRESS_BALANCE)


async def test_new_funds_in_the_address_balance_are_found():
    purse, on_chain = pool(coin(1, 10))
    with pytest.raises(WrongStateError):
        await purse.reserve(60)
    on_chain.balance = 50
    assert parts(await purse.reserve(60)) == ([10], 50)


async def test_balance_spent_by_another_program_is_overdrawn():
    purse, on_chain = pool(balance=100)
    await purse.reserve(75)
    assert not purse.is_overdrawn
    on_chain.balance = 40
    await purse.read_balance_again()
    assert purse.is_overdrawn


# --- Number of reads


async def fails(purse, required, **options):
    with pytest.raises(WrongStateError):
        await purse.reserve(required, **options)


async def test_reads_since_the_start_of_an_operation_are_not_repeated():
    purse, on_chain = pool(coin(1, 10))
    start = purse.read_count
    await fails(purse, 20, since=start)
    await fails(purse, 30, since=start)
    assert (on_chain.coin_looks, on_chain.looks) == (1, 1)


async def test_later_operation_reads_again():
    purse, on_chain = pool(coin(1, 10))
    await fails(purse, 20)
    await fails(purse, 20)
    assert (on_chain.coin_looks, on_chain.looks) == (2, 2)


async def test_reads_are_repeated_after_a_transaction():
    purse, on_chain = pool(coin(1, 10))
    start = purse.read_count
    taken = await purse.reserve(5, since=start)
    # The transaction splits its coin, and the pool does not know the second part.
    on_chain.coins = [coin(1, 3, version=2), coin(2, 6, version=2)]
    await purse.release(taken, Payment((coin(1, 3, version=2),)))
    assert parts(await purse.reserve(8, since=start)) == ([6, 3], 0)


async def test_waiting_payments_read_once_after_a_transaction():
    purse, on_chain = pool(coin(1, 10))
    taken = await purse.reserve(5)
    start = purse.read_count
    waiting = [asyncio.create_task(fails(purse, 20, since=start)) for _ in range(3)]
    await asyncio.sleep(0)
    assert (on_chain.coin_looks, on_chain.looks) == (2, 1)
    await purse.release(taken, Payment((coin(1, 9, version=2),)))
    await asyncio.gather(*waiting)
    assert (on_chain.coin_looks, on_chain.looks) == (3, 2)


async def test_unsent_payment_causes_no_reads():
    purse, on_chain = pool(coin(1, 10))
    taken = await purse.reserve(5)
    waiting = asyncio.create_task(fails(purse, 20))
    await asyncio.sleep(0)
    await purse.release(taken, taken)
    await waiting
    assert (on_chain.coin_looks, on_chain.looks) == (2, 1)


async def test_balance_is_read_again_if_a_pending_transaction_spent_it():
    purse, on_chain = pool(balance=100)
    taken = await purse.reserve(60)
    waiting = asyncio.create_task(purse.reserve(90))
    await asyncio.sleep(0)
    on_chain.balance = 95
    await purse.read_balance_again()  # counts the spent 5 twice
    await purse.release(taken, Payment(reserved=55))
    assert parts(await waiting) == ([], 90)
