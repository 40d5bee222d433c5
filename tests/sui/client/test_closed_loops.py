"""Event loops that are closed before their last gRPC events do not disturb other loops."""

import asyncio

import pytest

from nexus_tools.sui.client.connection.closed_loops import ignore_late_grpc_events
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.network import Network


def test_late_events_of_closed_loops_raise_in_no_other_loop():
    failures = []
    with ThreadedLocalnet() as net, asyncio.Runner() as runner:
        network = Network("test", net.url)
        # While a connection is open, all loops share gRPC's queue of events.
        connection = runner.run(connected(network))
        for _ in range(5):
            asyncio.run(cancel_streams(network))
            asyncio.run(call_often(network, failures))
        runner.run(connection.close())
    assert failures == []


async def connected(network):
    connection = Connection(network)
    connection.open()
    await connection.call("LedgerService/GetServiceInfo")
    return connection


async def cancel_streams(network):
    connection = await connected(network)
    streams = [asyncio.create_task(follow(connection)) for _ in range(20)]
    await connection.call("LedgerService/GetServiceInfo")  # the streams start in the meantime
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    await connection.close()


async def follow(connection):
    async for _ in connection.stream("SubscriptionService/SubscribeCheckpoints"):
        pass


async def call_often(network, failures):
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: failures.append(context))
    connection = await connected(network)
    for _ in range(30):
        await connection.call("LedgerService/GetServiceInfo")
    await connection.close()


def test_closed_loop_still_rejects_other_callbacks():
    loop = asyncio.new_event_loop()
    ignore_late_grpc_events(loop)
    ignore_late_grpc_events(loop)
    loop.close()
    with pytest.raises(RuntimeError, match="Event loop is closed"):
        loop.call_soon_threadsafe(print)
