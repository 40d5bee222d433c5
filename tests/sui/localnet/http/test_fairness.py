"""One client's flood of small frames or chunks does not block other clients."""

import asyncio
from itertools import pairwise

from nexus_tools.sui.localnet.http import Budget
from nexus_tools.sui.localnet.http.http1 import Http1Connection
from nexus_tools.sui.localnet.http.http2 import Http2Connection

OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
PING = b"\0\0\x08\6\0\0\0\0\0" + bytes(8)
PONG = b"\0\0\x08\6\1\0\0\0\0" + bytes(8)
CHUNK = b"1\r\na\r\n"
PINGS = 4_000
BUDGET = Budget(2**20, "a connection")


class Patient:
    """An application that waits for whole requests."""

    def needs_body(self, _):
        return True


async def open_connection(wire):
    connection = Http2Connection(None, 60, BUDGET)
    connection.connection_made(wire)
    connection.data_received(OPENING)
    await asyncio.sleep(0)
    return connection


async def test_flood_is_read_in_parts_between_turns_of_other_connections(wire):
    connection = await open_connection(wire)
    connection.data_received(PING * PINGS)
    assert not wire.reads
    responses = []
    while not wire.reads:
        responses.append(wire.written.count(PONG))
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert wire.written.count(PONG) == PINGS
    steps = [after - before for before, after in pairwise(responses)]
    assert max(steps) <= 4096 // len(PING) + 1
    assert len(steps) > 10
    connection.connection_lost(None)


async def test_data_of_a_closed_connection_is_dropped(wire):
    connection = await open_connection(wire)
    connection.data_received(PING * PINGS)
    wire.close()
    for _ in range(PINGS):
        await asyncio.sleep(0)
    assert wire.written.count(PONG) < PINGS // 10
    connection.connection_lost(None)


async def test_many_small_chunks_are_read_in_parts(wire):
    connection = Http1Connection(Patient(), 60, BUDGET)
    connection.connection_made(wire)
    head = b"POST /v2/gas HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
    connection.data_received(head + CHUNK * 3_000)
    read = []
    while not wire.reads:
        read.append(len(connection._exchange.body.arrived))
        await asyncio.sleep(0)
    assert len(connection._exchange.body.arrived) == 3_000
    assert max(after - before for before, after in pairwise([0, *read])) <= 4096 // len(CHUNK) + 1
    connection.connection_lost(None)
