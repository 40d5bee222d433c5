import asyncio

import pytest
from grpc import StatusCode

from nexus_tools.errors import (
    NotAllowedError,
    RefusedOnChainError,
    UnreachableError,
)
from nexus_tools.sui.client import RetryPolicy, SuiClient, failure_gas_mist
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
SUI_MIST = 1_000_000_000
CAROL = Address.of(0xCA401)


def pay(amount, recipient=CAROL):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
    return builder


# --- Two clients with one key


async def test_gas_coin_used_by_another_program_is_read_again(bob, chain):
    await bob.execute(pay(1))
    async with chain.client(chain.bob) as other:
        await other.execute(pay(1))
    await bob.execute(pay(1))
    await bob.execute(pay(1), budget=5_000_000)
    assert await bob.balance(CAROL) == 4


@pytest.mark.parametrize("budget", [None, 5_000_000])  # with a budget, the old one is signed
async def test_gas_coins_merged_by_another_program_are_all_read_again(chain, localnet, budget):
    signer = KeyPair.new()
    for _ in range(6):
        localnet.fund(signer.address, 20 * SUI_MIST)
    async with chain.client(signer) as client, chain.client(signer) as other:
        await client.execute(pay(1))
        _, *coins = await other.coins(signer.address)
        merge = TransactionBuilder()
        merge.merge_coins(merge.gas, [merge.object(coin.reference.object_id) for coin in coins])
        await other.execute(merge)
        before = await client.balance(CAROL)
        await client.execute(pay(1), budget=budget)
        assert await client.balance(CAROL) == before + 1


async def test_transaction_may_name_more_objects_than_the_cache_holds(chain, localnet, monkeypatch):
    """A full cache evicts another object for each new one."""
    monkeypatch.setattr("nexus_tools.sui.client.transactions.resolution.MAX_CACHED_OBJECTS", 2)
    signer = KeyPair.new()
    for _ in range(6):
        localnet.fund(signer.address, SUI_MIST)
    async with chain.client(signer) as client:
        _, *coins = await client.coins(signer.address)
        builder = TransactionBuilder()
        named = [builder.object(coin.reference.object_id) for coin in coins]
        builder.transfer_objects(named, CAROL)
        await client.execute(builder)
        assert len(await client.coins(signer.address)) == 1


async def test_simulation_reads_outdated_objects_again(bob, chain):
    await bob.execute(pay(1))
    async with chain.client(chain.bob) as other:
        await other.execute(pay(1))
    assert (await bob.simulate(pay(1))).cost.net > 0


async def test_other_refusals_are_not_retried(bob, calls):
    await bob.execute(pay(1))
    calls.clear()
    with pytest.raises(RefusedOnChainError) as caught:
        await bob.execute(pay(1), budget=1)  # below the minimum budget
    assert failure_gas_mist(caught.value) is None  # a node may refuse what it has executed
    assert caught.value.code == "refused_by_node"
    assert calls["ExecuteTransaction"] == 1
    await bob.execute(pay(1))


async def test_owned_object_used_by_another_program_is_read_again(alice, chain):
    await alice.execute(chain.using_cap())
    async with chain.client(chain.alice) as other:
        await other.execute(chain.using_cap())
    await alice.execute(chain.using_cap())


async def test_object_transferred_by_another_program_is_not_used(alice, chain):
    def give(recipient):
        builder = TransactionBuilder()
        builder.transfer_objects([builder.object(chain.deployment.upgrade_cap)], recipient)
        return builder

    await alice.execute(give(chain.alice.address))
    async with chain.client(chain.alice) as other:
        await other.execute(give(CAROL))
    with pytest.raises(NotAllowedError):
        await alice.execute(give(chain.alice.address))


# --- Lost answers


@pytest.fixture
async def distant_bob(gateway, chain):
    async with SuiClient(gateway.network, chain.bob, retry_policy=QUICK) as client:
        yield client


async def test_lost_answer_is_requested_again_without_a_second_payment(gateway, distant_bob):
    gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, count=2, late=True)
    await distant_bob.execute(pay(7))
    assert await distant_bob.balance(CAROL) == 7


async def test_client_reads_the_chain_after_an_unknown_outcome(gateway, distant_bob):
    gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
    with pytest.raises(UnreachableError):
        await distant_bob.execute(pay(7))
    gateway.mend("ExecuteTransaction")
    await distant_bob.execute(pay(7))
    assert await distant_bob.balance(CAROL) == 14


async def test_transaction_of_unknown_outcome_is_named(gateway, distant_bob):
    gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
    with pytest.raises(UnreachableError) as caught:
        await distant_bob.execute(pay(7))
    digest = caught.value.details["digest"]
    assert await distant_bob.transaction(Digest.parse(digest)) is not None
    assert digest in caught.value.hint
    assert failure_gas_mist(caught.value) is None


async def test_refusal_is_named_when_the_node_cannot_be_queried(gateway, distant_bob):
    gateway.fail("ExecuteTransaction", StatusCode.INVALID_ARGUMENT, late=True)
    gateway.fail("GetTransaction", StatusCode.UNAVAILABLE)
    with pytest.raises(UnreachableError) as caught:
        await distant_bob.execute(pay(7))
    assert failure_gas_mist(caught.value) is None


@pytest.mark.parametrize("fails", ["GetEpoch", "SimulateTransaction"])
async def test_unsent_transaction_is_not_uncertain(gateway, distant_bob, fails):
    gateway.fail(fails, StatusCode.UNAVAILABLE)
    with pytest.raises(UnreachableError) as caught:
        await distant_bob.execute(pay(7))
    assert failure_gas_mist(caught.value) == 0


# --- Many at once


async def test_transactions_of_one_signer_wait_for_each_other(bob):
    await asyncio.gather(*(bob.execute(pay(1)) for _ in range(8)))
    assert await bob.balance(CAROL) == 8


async def test_transactions_run_in_parallel_with_several_gas_coins(chain, monkeypatch):
    for _ in range(2):
        chain.net.fund(chain.bob.address, 10 * SUI_MIST)
    inside, most = 0, 0
    original = Connection.call

    async def observing(self, name, **fields):
        nonlocal inside, most
        if not name.endswith("/ExecuteTransaction"):
            return await original(self, name, **fields)
        inside += 1
        most = max(most, inside)
        try:
            return await original(self, name, **fields)
        finally:
            inside -= 1

    monkeypatch.setattr(Connection, "call", observing)
    async with chain.client(chain.bob, parallel=3) as client:
        budget = 5_000_000
        await asyncio.gather(*(client.execute(pay(1), budget=budget) for _ in range(9)))
        assert await client.balance(CAROL) == 9
    assert most == 3


async def test_transactions_with_a_common_owned_object_never_collide(chain):
    for _ in range(3):
        chain.net.fund(chain.alice.address, 10 * SUI_MIST)
    async with chain.client(chain.alice, parallel=4) as client:
        done = (client.execute(chain.using_cap(), budget=20_000_000) for _ in range(8))
        assert len({executed.digest for executed in await asyncio.gather(*done)}) == 8
