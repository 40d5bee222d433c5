"""One HTTP/2 connection with a client that controls its frames."""

import asyncio

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest

from nexus_tools.sui.localnet.http import Budget
from nexus_tools.sui.localnet.http.http2 import Http2Connection
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server.application import NodeApplication
from nexus_tools.sui.localnet.rpc.server.endpoints import Endpoint
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.rpc import load_messages

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
PACKAGE = "/sui.rpc.v2.LedgerService/GetObject"
WATCH = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"
EMPTY = bytes(5)
_TURNS = 10_000


class Peer:
    """A client of the connection that may send malformed data."""

    def __init__(self, backend, wire):
        config = h2.config.H2Configuration(
            validate_outbound_headers=False, normalize_outbound_headers=False
        )
        self.http = h2.connection.H2Connection(config)
        self.wire = wire
        budget = Budget(backend.limits.connection_bytes, "a connection")
        self.connection = Http2Connection(NodeApplication(backend), 60, budget)
        self.connection.connection_made(self.wire)
        self.http.initiate_connection()
        self.events = []
        self.exchange()

    def exchange(self):
        """Exchange the pending data of both sides."""
        self.connection.data_received(self.http.data_to_send())
        self.events += self.http.receive_data(bytes(self.wire.written))
        self.wire.written.clear()

    def begin(self, path, *more, end=False):
        stream = self.http.get_next_available_stream_id()
        head = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "localhost"),
        ]
        fields = [*head, ("content-type", "application/grpc"), *more]
        self.http.send_headers(stream, fields, end_stream=end)
        return stream

    def ask(self, path, message=b""):
        """Send a whole request."""
        stream, frame = self.begin(path), b"\0" + len(message).to_bytes(4, "big") + message
        for start in range(0, len(frame), 16_384):
            self.http.send_data(stream, frame[start : start + 16_384])
        self.http.end_stream(stream)
        return stream

    def of(self, stream, kind):
        return [
            event
            for event in self.events
            if isinstance(event, kind) and getattr(event, "stream_id", None) == stream
        ]

    def body(self, stream):
        return b"".join(event.data for event in self.of(stream, h2.events.DataReceived))

    def has_ended(self, stream):
        return bool(self.of(stream, h2.events.StreamEnded))

    async def until(self, condition):
        for _ in range(_TURNS):
            self.exchange()
            if condition():
                return
            await asyncio.sleep(0)
        raise AssertionError("it does not come about")


@pytest.fixture(scope="module")
def backend():
    node = Node.open()
    json = JsonRenderer(node.machine)
    yield Backend(node, load_messages(), Limits(), json)
    node.close()


@pytest.fixture
async def peer(backend, wire):
    peer = Peer(backend, wire)
    yield peer
    peer.connection.connection_lost(None)
    await asyncio.sleep(0)


async def test_complete_request_gets_its_response_in_the_same_turn(peer, backend):
    stream = peer.ask(INFO)
    peer.exchange()
    response = backend.messages.procedures[INFO].response.FromString(peer.body(stream)[5:])
    assert response.chain_id == str(backend.node.chain_id)
    assert peer.has_ended(stream)


async def test_request_received_byte_by_byte_gets_its_response(peer):
    stream = peer.ask(INFO)
    for byte in peer.http.data_to_send():
        peer.connection.data_received(bytes([byte]))
        await asyncio.sleep(0)
    await peer.until(lambda: peer.has_ended(stream))
    assert peer.body(stream)


async def test_call_gets_its_response_before_the_client_half_closes(peer):
    stream = peer.begin(INFO)
    peer.http.send_data(stream, EMPTY)
    await peer.until(lambda: peer.of(stream, h2.events.StreamEnded))
    assert peer.body(stream)
    await peer.until(lambda: peer.of(stream, h2.events.StreamReset))


async def test_request_cancelled_before_it_is_served_is_not_served(peer, backend, monkeypatch):
    served = []
    monkeypatch.setattr(
        NodeApplication, "begin", lambda _, exchange: served.append(exchange.number)
    )
    given_up, kept = peer.ask(INFO), peer.ask(INFO)
    peer.http.reset_stream(given_up)
    peer.exchange()
    assert served == [kept]


async def test_response_waits_for_the_clients_windows(peer, backend):
    peer.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1_000})
    peer.exchange()
    request = backend.messages.procedures[PACKAGE].request(
        object_id="0x2", read_mask={"paths": ["bcs"]}
    )
    stream = peer.ask(PACKAGE, request.SerializeToString())
    for _ in range(3):
        peer.exchange()
        await asyncio.sleep(0)
    assert len(peer.body(stream)) == 1_000
    peer.http.increment_flow_control_window(1_000_000, stream)
    for _ in range(3):
        peer.exchange()
        await asyncio.sleep(0)
    assert len(peer.body(stream)) == 65_535  # all of the connection's window
    peer.http.increment_flow_control_window(1_000_000)
    await peer.until(lambda: peer.has_ended(stream))
    body = peer.body(stream)
    assert int.from_bytes(body[1:5], "big") == len(body) - 5 > 65_535


async def test_request_may_be_as_large_as_the_limit(peer, backend):
    size = backend.limits.request_bytes - 5
    length = bytes((size >> shift & 0x7F) | 0x80 for shift in (0, 7, 14)) + bytes((size >> 21,))
    message = b"\x7a" + length + bytes(size)  # the unknown field 15
    frame = b"\0" + len(message).to_bytes(4, "big") + message
    stream = peer.begin(INFO)
    while frame:
        await peer.until(lambda: peer.wire.reads and peer.http.local_flow_control_window(stream))
        room = min(peer.http.local_flow_control_window(stream), 16_384)
        peer.http.send_data(stream, frame[:room])
        frame = frame[room:]
    peer.http.end_stream(stream)
    await peer.until(lambda: peer.has_ended(stream))
    assert len(message) == backend.limits.request_bytes
    assert peer.body(stream)


async def test_many_requests_do_not_use_up_the_connection_window(peer):
    message = b"\x7a\x80\x7d" + bytes(16_000)
    for _ in range(600):  # 40 windows
        stream = peer.ask(INFO, message)
        await peer.until(lambda stream=stream: peer.has_ended(stream))
        peer.http.increment_flow_control_window(1_000)
    assert peer.http.outbound_flow_control_window > 0


async def test_requests_with_waiting_responses_do_not_use_up_the_window(peer, backend):
    peer.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    peer.exchange()
    message = backend.messages.procedures[PACKAGE].request(object_id="0x2").SerializeToString()
    for _ in range(100):
        peer.ask(PACKAGE, message + b"\x7a\xb8\x17" + bytes(3_000))
        peer.exchange()
        await asyncio.sleep(0)
    assert peer.http.outbound_flow_control_window > 0


@pytest.fixture
def response_sizes(monkeypatch):
    """Return the sizes of the created responses."""
    sizes, respond = [], Endpoint.respond

    def note(endpoint, body):
        response = respond(endpoint, body)
        sizes.append(len(response))
        return response

    monkeypatch.setattr(Endpoint, "respond", note)
    return sizes


async def at_once(peer, message):
    return peer.ask(PACKAGE, message)


async def in_halves(peer, message):
    stream, frame = peer.begin(PACKAGE), b"\0" + len(message).to_bytes(4, "big") + message
    for half in (frame[:9], frame[9:]):
        peer.http.send_data(stream, half)
        peer.exchange()
        await asyncio.sleep(0)
    peer.http.end_stream(stream)
    return stream


async def ask_for_much(peer, backend, ask):
    """Request twenty large responses without windows for them."""
    peer.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    request = backend.messages.procedures[PACKAGE].request(
        object_id="0x2", read_mask={"paths": ["bcs"]}
    )
    streams = [await ask(peer, request.SerializeToString()) for _ in range(20)]
    for _ in range(10):
        peer.exchange()
        await asyncio.sleep(0)
    return streams


def widen(peer, streams):
    peer.http.increment_flow_control_window(100_000_000)
    for stream in streams:
        peer.http.increment_flow_control_window(10_000_000, stream)


@pytest.mark.parametrize("ask", [at_once, in_halves])
async def test_responses_for_a_slow_client_are_limited_to_a_megabyte_until_it_reads(
    peer, backend, response_sizes, ask
):
    streams = await ask_for_much(peer, backend, ask)
    assert 2**20 <= sum(response_sizes) < 2**20 + response_sizes[-1]
    widen(peer, streams)
    await peer.until(lambda: all(map(peer.has_ended, streams)))
    assert {len(peer.body(stream)) for stream in streams} == {response_sizes[0] + 5}


async def test_cancelled_responses_free_their_memory(peer, backend, response_sizes):
    streams = await ask_for_much(peer, backend, at_once)
    count = len(response_sizes)
    for stream in streams[:count]:
        peer.http.reset_stream(stream)
    widen(peer, streams[count:])
    await peer.until(lambda: all(map(peer.has_ended, streams[count:])))
    assert len(response_sizes) == 20


async def test_client_that_does_not_read_is_not_read_from(peer):
    peer.connection.pause_writing()
    assert not peer.wire.reads
    stream = peer.ask(INFO)
    peer.exchange()
    await asyncio.sleep(0)
    peer.exchange()
    assert not peer.has_ended(stream)
    peer.connection.resume_writing()
    await peer.until(lambda: peer.has_ended(stream))
    assert peer.wire.reads


async def test_lost_connection_ends_its_requests(peer, backend):
    peer.ask(WATCH)
    peer.exchange()
    await asyncio.sleep(0)
    assert len(backend.subscriptions) == 1
    peer.connection.connection_lost(None)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not backend.subscriptions


async def test_trailers_end_a_request(peer):
    stream = peer.begin(INFO)
    peer.http.send_data(stream, EMPTY)
    peer.http.send_headers(stream, [("x", "y")], end_stream=True)
    peer.exchange()
    assert peer.has_ended(stream)


async def test_protocol_error_is_reported_before_the_connection_ends(peer):
    peer.connection.data_received(b"\0\0\x08\x06\0\0\0\0\x01" + bytes(8))  # PING on a stream
    events = peer.http.receive_data(bytes(peer.wire.written))
    assert any(isinstance(event, h2.events.ConnectionTerminated) for event in events)
    assert peer.wire.closing
