import asyncio
from threading import Thread

import pytest

from nexus_tools.client.unbound import UnboundClient
from nexus_tools.errors import UnreachableError
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder

BOB = Address.of(0xB0B)


@pytest.fixture
def client(chain):
    return UnboundClient(chain.network, chain.alice)


def transfer(amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], BOB)
    return builder


def test_one_client_serves_one_event_loop_after_the_other(client):
    for amount in (1, 2):
        asyncio.run(client.execute(transfer(amount)))
    assert asyncio.run(client.balance(BOB)) == 3


def test_one_client_serves_event_loops_at_the_same_time(client):
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


async def test_it_can_be_used_in_async_with_as_other_clients(client):
    async with client:
        await client.execute(transfer(1))
    assert await client.balance(BOB) == 1


async def test_no_connection_is_left_behind(client):
    await asyncio.gather(client.chain_id(), client.balance(BOB))
    await client.execute(transfer(1))
    assert client.connection.idle


async def test_a_call_that_was_prepared_on_a_connection_that_has_ended_is_made_on_another(client):
    from nexus_tools.client.messages import rpc

    connection = client.connection
    prepared = connection.call(connection.ledger.get_service_info, rpc().GetServiceInfoRequest())
    first = await client.chain_id()
    assert connection.idle
    assert (await prepared).chain_id == first
    assert connection.idle


async def test_a_call_that_fails_leaves_no_connection(chain):
    silent = UnboundClient(type(chain.network)("nowhere", "http://127.0.0.1:1"))
    with pytest.raises(UnreachableError):
        await silent.chain_id()
    assert silent.connection.idle


async def test_a_stream_that_is_left_leaves_no_connection(client):
    from nexus_tools.client.messages import mask, rpc

    connection = client.connection
    request = rpc().SubscribeCheckpointsRequest(read_mask=mask("sequence_number"))
    stream = connection.stream(connection.subscription.subscribe_checkpoints, request)
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await client.execute(transfer(1))
    assert (await first).cursor > 0
    assert not connection.idle
    await stream.aclose()
    assert connection.idle
