import pytest
from grpc import StatusCode

from nexus_tools.sui.client import (
    RetryPolicy,
    SuiClient,
    UnsupportedByNodeError,
    newest_transactions_of,
)
from nexus_tools.sui.localnet.rpc.services import history as service
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)


@pytest.fixture
async def used(chain, alice):
    """Change an object three times. Return its ID and the digests, newest first."""
    sent = [await alice.execute(chain.using_cap()) for _ in range(3)]
    return chain.deployment.upgrade_cap, [executed.digest for executed in sent][::-1]


async def test_transactions_of_an_object_are_read_newest_first(bob, used):
    object_id, digests = used
    found = await newest_transactions_of(bob, object_id, 10)
    assert [executed.digest for executed in found][:3] == digests
    assert found[-1].published()  # the transaction that created the object
    assert all(object_id in dict(executed.effects.changed_objects) for executed in found)


async def test_transactions_of_an_object_equal_single_reads(bob, used):
    object_id, digests = used
    [newest] = await newest_transactions_of(bob, object_id, 1)
    assert newest == await bob.transaction(digests[0])


async def test_transactions_of_a_deleted_object_are_read(chain, alice, bob):
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5])
    builder.transfer_objects(coins, alice.address)
    created = await alice.execute(builder)
    [coin] = created.created_of("coin", "Coin")
    builder = TransactionBuilder()
    builder.merge_coins(builder.gas, [builder.object(coin)])
    merged = await alice.execute(builder)
    assert await bob.object(coin) is None
    found = await newest_transactions_of(bob, coin, 10)
    assert [executed.digest for executed in found] == [merged.digest, created.digest]


async def test_unknown_object_has_no_transactions(bob):
    assert await newest_transactions_of(bob, Address.of(2**40), 10) == ()


async def test_reading_continues_after_the_scan_limit_of_the_node(bob, used, monkeypatch):
    object_id, digests = used
    monkeypatch.setattr(service, "_STEP", 1)
    monkeypatch.setattr(service, "SCAN_LIMIT", 1)
    found = await newest_transactions_of(bob, object_id, 3)
    assert [executed.digest for executed in found] == digests


async def test_reading_stops_when_its_time_is_over(bob, used, monkeypatch):
    object_id, digests = used
    monkeypatch.setattr(service, "_STEP", 1)
    monkeypatch.setattr(service, "SCAN_LIMIT", 1)
    found = await newest_transactions_of(bob, object_id, 3, max_read_s=0)
    assert [executed.digest for executed in found] == digests[:1]


async def test_transactions_are_read_again_after_a_broken_stream(gateway, used):
    object_id, digests = used
    gateway.fail("ListTransactions", StatusCode.UNAVAILABLE, "the node restarts", count=2)
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        found = await newest_transactions_of(client, object_id, 3)
    assert [executed.digest for executed in found] == digests


async def test_node_without_a_transaction_index_is_reported_at_once(gateway, used):
    gateway.fail("ListTransactions", StatusCode.UNIMPLEMENTED, "the index is disabled")
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        with pytest.raises(UnsupportedByNodeError):
            await newest_transactions_of(client, used[0], 3)
    assert gateway.requests["ListTransactions"] == 1
