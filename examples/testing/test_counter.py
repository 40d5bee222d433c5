"""Tests of the Move package in `move/counter`: run `pytest` in this folder."""

import pytest

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.bcs import u64
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK

MINUTE_MS = 60_000


class Counter:
    """The published package and its counter, with a method for each of its functions."""

    def __init__(self, package):
        self.package = package
        self.id = package.created("counter", "Counter")

    def increase(self):
        transaction = TransactionBuilder()
        arguments = [transaction.object(self.id), transaction.object(CLOCK)]
        transaction.move_call(self.package.id, "counter", "increase", arguments)
        return transaction

    def reset(self):
        transaction = TransactionBuilder()
        arguments = [transaction.object(self.id)]
        transaction.move_call(self.package.id, "counter", "reset", arguments)
        return transaction

    async def value(self, client):
        transaction = TransactionBuilder()
        arguments = [transaction.object(self.id, mutable=False)]
        transaction.move_call(self.package.id, "counter", "value", arguments)
        ((value,),) = (await client.inspect(transaction)).results
        return u64.decode(value)


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture
def counter(publish):
    return Counter(publish("move/counter"))


# --- Async tests await the client


async def test_whoever_increases_it_is_in_the_event(counter, wallet, sui_client):
    executed = await sui_client.execute(counter.increase())
    (event,) = executed.events
    assert event.type == counter.package.type("counter", "Increased")
    assert event.contents == u64.encode(1) + wallet.address
    assert await counter.value(sui_client) == 1


async def test_it_is_increased_once_a_minute(counter, sui_client, localnet):
    await sui_client.execute(counter.increase())
    with pytest.raises(RefusedOnChainError) as refused:
        await sui_client.execute(counter.increase())
    assert refused.value.details["abort"] == 0  # ETooEarly
    localnet.advance_clock(MINUTE_MS)
    await sui_client.execute(counter.increase())
    assert await counter.value(sui_client) == 2


async def test_only_its_maker_resets_it(counter, wallet):
    stranger = wallet.another()
    await stranger.client.execute(counter.increase())
    with pytest.raises(RefusedOnChainError) as refused:
        await stranger.client.execute(counter.reset())
    assert refused.value.details["abort"] == 1  # ENotTheMaker
    await wallet.client.execute(counter.reset())
    assert await counter.value(wallet.client) == 0


# --- Synchronous tests pass coroutines of the client to `localnet.run`


def test_it_begins_at_zero(counter, sui_client, localnet):
    assert localnet.run(counter.value(sui_client)) == 0


def test_a_reset_ends_no_pause(counter, sui_client, localnet):
    localnet.run(sui_client.execute(counter.increase()))
    localnet.run(sui_client.execute(counter.reset()))
    with pytest.raises(RefusedOnChainError):
        localnet.run(sui_client.execute(counter.increase()))


def test_a_snapshot_is_gone_back_to_within_a_test(counter, sui_client, localnet):
    before = localnet.snapshot()
    localnet.run(sui_client.execute(counter.increase()))
    localnet.revert(before)
    localnet.run(sui_client.execute(counter.increase()))  # the revert also reset the pause
    assert localnet.run(counter.value(sui_client)) == 1
