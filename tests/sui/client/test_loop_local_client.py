import asyncio
from threading import Thread

import pytest

from nexus_tools.errors import UnreachableError
from nexus_tools.sui.client.any_loop_client import AnyLoopClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

BOB = Address.of(0xB0B)


@pytest.fixture
def client(chain):
    return AnyLoopClient(chain.network, chain.alice)


def transfer(amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], BOB)
    return builder


def test_client_serves_consecutive_event_loops(client):
    for amount in (1, 2):
        asyncio.run(client.execute(transfer(amount)))
    assert asyncio.run(client.balance(BOB)) == 3


def test_client_serves_parallel_event_loops(client):
    found = []

    async def read():
        found.extend(await asyncio.gather(*(client.chain_id() for _ in range(20))))

    threads = [Thread(target=asyncio.run, args=(read(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 60
    assert len(set(found)) == 1


async def test_client_works_in_async_with(client):
    async with client:
        await client.execute(transfer(1))
    assert await client.balance(BOB) == 1


def test_event_loops_share_one_connection(chain, relay_before):
    async def read_through_relay():
        async with relay_before(chain) as relay:
            network = Network("localnet", f"http://127.0.0.1:{relay.port}")
            client = AnyLoopClient(network)
            await asyncio.gather(*(client.chain_id() for _ in range(5)))
            await asyncio.to_thread(lambda: asyncio.run(client.chain_id()))
            return relay.connections

    assert asyncio.run(read_through_relay()) == 1


async def test_cancelled_call_ends_at_once_without_affecting_others(client):
    waiting = asyncio.create_task(client.chain_id())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await client.chain_id()


async def test_missing_node_is_unreachable(chain):
    silent = AnyLoopClient(Network("nowhere", "http://127.0.0.1:1"))
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1"):
        await silent.chain_id()


async def test_stream_lives_in_the_loop_that_reads_it(client):
    name = "SubscriptionService/SubscribeCheckpoints"
    stream = client.connection.stream(name, read_mask={"paths": ["sequence_number"]})
    before = await anext(stream)
    await client.execute(transfer(1))
    assert (await anext(stream)).cursor > before.cursor
    await stream.aclose()
