"""One client's flood of small frames, or small chunks, leaves the others their turn."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace

from nexus_tools.localnet.rpc import Limits
from nexus_tools.localnet.rpc.grpc_protocol import GrpcConnection
from nexus_tools.localnet.rpc.http_protocol import HttpConnection

OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
PING = b"\0\0\x08\6\0\0\0\0\0" + bytes(8)
PONG = b"\0\0\x08\6\1\0\0\0\0" + bytes(8)
PINGS = 4_000


class Recording(asyncio.Transport):
    """Keeps what is written, and knows whether it is to read."""

    def __init__(self):
        super().__init__()
        self.written = bytearray()
        self.reads = True
        self.closing = False

    def write(self, data):
        self.written += data

    def pause_reading(self):
        self.reads = False

    def resume_reading(self):
        self.reads = True

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True


async def opened():
    transport = Recording()
    connection = GrpcConnection(None)
    connection.connection_made(transport)
    connection.data_received(OPENING)
    await asyncio.sleep(0)
    return connection, transport


async def test_a_flood_is_read_in_parts_between_which_others_have_their_turn():
    connection, transport = await opened()
    connection.data_received(PING * PINGS)
    assert not transport.reads
    answered = []
    while not transport.reads:
        answered.append(transport.written.count(PONG))
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert transport.written.count(PONG) == PINGS
    steps = [after - before for before, after in pairwise(answered)]
    assert max(steps) <= 4096 // len(PING) + 1
    assert len(steps) > 10
    connection.connection_lost(None)


async def test_what_a_closed_connection_has_sent_is_dropped():
    connection, transport = await opened()
    connection.data_received(PING * PINGS)
    transport.close()
    for _ in range(PINGS):
        await asyncio.sleep(0)
    assert transport.written.count(PONG) < PINGS // 10
    connection.connection_lost(None)


async def test_many_small_chunks_are_read_in_parts_too():
    transport = Recording()
    connection = HttpConnection(SimpleNamespace(limits=Limits()))
    connection.connection_made(transport)
    head = b"POST /v2/gas HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
    connection.data_received(head + b"1\r\na\r\n" * 3_000)
    read = []
    while not transport.reads:
        read.append(len(connection._body))
        await asyncio.sleep(0)
    assert len(connection._body) == 3_000
    assert max(after - before for before, after in pairwise([0, *read])) <= 128
    connection.connection_lost(None)
