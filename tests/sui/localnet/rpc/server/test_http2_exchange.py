"""HTTP/2 other than native gRPC: gRPC-web as proxies forward it, and plain requests."""

import json

import h2.connection
import h2.events
import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.rpc import Limits

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
EMPTY = b"\0\0\0\0\0"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
LIST_SERVICES = b"\0\0\0\0\x02\x3a\0"  # list_services (field 7), an empty text
WEB = ("content-type", "application/grpc-web+proto")
TEXT = ("content-type", "application/grpc-web-text")


class Exchanges:
    """One HTTP/2 connection, used for one exchange at a time."""

    def __init__(self, connection):
        self.socket = connection
        self.http = h2.connection.H2Connection()
        self.http.initiate_connection()

    def send(self, method, path, *headers, parts=()):
        """Send a request. Without parts it is only headers; with None it does not end."""
        stream = self.http.get_next_available_stream_id()
        head = [
            (":method", method),
            (":path", path),
            (":scheme", "http"),
            (":authority", "localhost"),
        ]
        self.http.send_headers(stream, [*head, *headers], end_stream=parts == ())
        for index, part in enumerate(parts or (), 1):
            self.http.send_data(stream, part, end_stream=index == len(parts))
        self.socket.sendall(self.http.data_to_send())
        return stream

    def send_part(self, stream, part):
        self.http.send_data(stream, part)
        self.socket.sendall(self.http.data_to_send())

    def receive_until(self, wanted):
        """Return the received body up to some bytes."""
        body = b""
        while wanted not in body:
            for event in self.http.receive_data(self.socket.recv(65536)):
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
        return body

    def receive(self):
        """Return the headers and the body of the next response."""
        headers, body = {}, b""
        while True:
            for event in self.http.receive_data(self.socket.recv(65536)):
                if isinstance(event, h2.events.ResponseReceived):
                    headers = {name.decode(): value.decode() for name, value in event.headers}
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                    self.http.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id
                    )
                elif isinstance(event, h2.events.StreamEnded):
                    return headers, body
            self.socket.sendall(self.http.data_to_send())

    def __call__(self, *arguments, parts=()):
        self.send(*arguments, parts=parts)
        return self.receive()


@pytest.fixture
def exchange(dial):
    return Exchanges(dial())


@pytest.mark.parametrize("parts", [[EMPTY], [b"\0", b"\0\0\0", b"\0"], [EMPTY, b""]])
def test_call_gets_its_response_for_any_split_into_parts(exchange, web, parts):
    headers, body = exchange("POST", INFO, WEB, parts=parts)
    assert headers[":status"] == "200"
    assert headers["content-type"] == "application/grpc-web+proto"
    (flags, message), last = web.frames(body)
    assert flags == 0
    response = web.messages.procedures[INFO].response.FromString(message)
    assert response.chain_id == headers["x-sui-chain-id"]
    assert last == (0x80, b"grpc-status:0\r\n")


def test_text_request_gets_a_text_response(exchange):
    headers, body = exchange(
        "POST", INFO, TEXT, ("accept", "application/grpc-web-text"), parts=[b"AAAA", b"AAA="]
    )
    assert headers["content-type"] == "application/grpc-web-text+proto"
    assert body.endswith(b"gAAAAA9ncnBjLXN0YXR1czowDQo=")  # the frame of `grpc-status:0`


def test_error_is_in_the_headers(exchange):
    headers, body = exchange("POST", "/no.Such/Procedure", WEB, parts=[EMPTY])
    assert headers["grpc-status"] == "12"
    assert body == b""


@pytest.mark.parametrize("refused", ["application/connect+proto", "application/json"])
def test_unknown_content_type_is_refused_before_the_body_ends(exchange, refused):
    exchange.send("POST", INFO, ("content-type", refused), parts=None)
    headers, body = exchange.receive()
    assert headers[":status"] == "415"
    assert "gRPC-web" in json.loads(body)["error"]


def test_grpc_web_conversation_continues_before_its_client_ends_it(exchange):
    stream = exchange.send("POST", REFLECTION, WEB, parts=None)
    for _ in range(2):
        exchange.send_part(stream, LIST_SERVICES)
        exchange.receive_until(b"sui.rpc.v2.StateService")
    exchange.http.end_stream(stream)
    exchange.socket.sendall(exchange.http.data_to_send())
    assert exchange.receive_until(b"grpc-status:0\r\n")


def test_one_connection_serves_many_exchanges(exchange):
    for _ in range(3):
        headers, _ = exchange("POST", INFO, WEB, parts=[EMPTY])
        assert headers[":status"] == "200"


def test_stream_is_cut_off_when_the_client_resets_it(exchange):
    path = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"
    stream = exchange.send("POST", path, WEB, parts=[EMPTY])
    while not any(
        isinstance(event, h2.events.DataReceived)
        for event in exchange.http.receive_data(exchange.socket.recv(65536))
    ):
        pass
    exchange.http.reset_stream(stream)
    exchange.socket.sendall(exchange.http.data_to_send())
    headers, _ = exchange("POST", INFO, WEB, parts=[EMPTY])
    assert headers[":status"] == "200"


def test_preflight_gets_its_response(exchange):
    headers, body = exchange("OPTIONS", INFO, ("origin", "http://localhost:3000"))
    assert headers[":status"] == "200"
    assert headers["access-control-allow-origin"] == "*"
    assert body == b""


def test_plain_requests_are_served(exchange):
    headers, body = exchange("GET", "/health")
    assert headers[":status"] == "200"
    assert json.loads(body)["status"] == "ok"
    asked = json.dumps({"FixedAmountRequest": {"recipient": "0x5"}}).encode()
    headers, body = exchange("POST", "/v2/gas", parts=[asked])
    assert headers[":status"] == "200"
    assert json.loads(body)["status"] == "Success"


def test_bodies_that_are_too_large_are_refused(dial):
    with ThreadedLocalnet(limits=Limits(request_bytes=100, http_body_bytes=100)) as localnet:
        exchange = Exchanges(dial(localnet.url))
        headers, _ = exchange("POST", INFO, WEB, parts=[bytes(106)])
        assert headers["grpc-status"] == "8"
        headers, _ = exchange("POST", "/v2/gas", parts=[bytes(101)])
        assert headers[":status"] == "413"


# --- Buffers of incomplete requests

SUBSCRIBE = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"
NATIVE = ("content-type", "application/grpc")


def padded_frame(size):
    """Return a frame of `size` bytes: a message with an unknown field."""
    field = b"\x7a" + bytes(((size - 8) & 0x7F | 0x80, (size - 8) >> 7))
    return b"\0" + (size - 5).to_bytes(4, "big") + field + bytes(size - 8)


def begin(exchange, form, size, path=INFO):
    """Send `size` bytes of a request of 2 000 bytes, so that the server waits for the rest."""
    stream = exchange.send("POST", path, form, parts=None)
    exchange.send_part(stream, padded_frame(2_000)[:size])
    return stream


def end(exchange, stream, sent):
    exchange.http.send_data(stream, padded_frame(2_000)[sent:], end_stream=True)
    exchange.socket.sendall(exchange.http.data_to_send())


def is_served(exchange):
    """Return whether a whole call is served; all earlier data has been processed then."""
    headers, body = exchange("POST", INFO, WEB, parts=[EMPTY])
    return "grpc-status" not in headers and b"grpc-status:0" in body


def small(**limits):
    return ThreadedLocalnet(limits=Limits(**limits))


@pytest.mark.parametrize("form", [NATIVE, WEB])
def test_incomplete_calls_of_a_connection_have_a_memory_limit(dial, form):
    with small(connection_bytes=1_000) as localnet:
        exchange, other = Exchanges(dial(localnet.url)), Exchanges(dial(localnet.url))
        begin(exchange, form, 900)
        assert is_served(exchange)
        begin(exchange, form, 200)
        headers, _ = exchange.receive()
        assert (headers[":status"], headers["grpc-status"]) == ("200", "8")  # RESOURCE_EXHAUSTED
        assert "a connection stores at most 1000 bytes" in headers["grpc-message"]
        begin(other, form, 900)
        assert is_served(other)


def test_incomplete_calls_of_all_connections_have_a_memory_limit(dial):
    with small(server_bytes=1_000) as localnet:
        exchange, other = Exchanges(dial(localnet.url)), Exchanges(dial(localnet.url))
        begin(exchange, NATIVE, 900)
        assert is_served(exchange)
        begin(other, NATIVE, 200)
        headers, _ = other.receive()
        assert headers["grpc-status"] == "8"
        assert "the server stores at most 1000 bytes" in headers["grpc-message"]


@pytest.mark.parametrize("leave", ["ended", "reset", "refused"])
def test_memory_of_an_incomplete_call_is_freed_when_it_ends(dial, leave):
    with small(connection_bytes=1_000) as localnet:
        exchange = Exchanges(dial(localnet.url))
        stream = begin(exchange, WEB, 900)
        assert is_served(exchange)
        if leave == "ended":
            end(exchange, stream, 900)
            assert b"grpc-status:0" in exchange.receive()[1]
        elif leave == "reset":
            exchange.http.reset_stream(stream)
        else:
            exchange.send_part(stream, padded_frame(2_000)[900:1_200])
            assert exchange.receive()[0]["grpc-status"] == "8"
        last = begin(exchange, WEB, 800)
        assert is_served(exchange)
        end(exchange, last, 800)
        assert b"grpc-status:0" in exchange.receive()[1]


@pytest.mark.parametrize("form", [NATIVE, WEB])
def test_request_of_a_subscriber_uses_memory_while_it_is_served(dial, form):
    with small(connection_bytes=2_500) as localnet:
        exchange = Exchanges(dial(localnet.url))
        stream = begin(exchange, form, 1_900, SUBSCRIBE)
        assert is_served(exchange)
        end(exchange, stream, 1_900)
        exchange.receive_until(b"\0")
        begin(exchange, NATIVE, 900)
        headers, _ = exchange.receive()
        assert headers["grpc-status"] == "8"


def test_processed_messages_of_a_conversation_use_no_memory(dial):
    with small(connection_bytes=2_000) as localnet:
        exchange, message = Exchanges(dial(localnet.url)), padded_frame(1_500)
        stream = exchange.send("POST", REFLECTION, NATIVE, parts=None)
        for _ in range(3):
            exchange.send_part(stream, message[:1_000])
            assert is_served(exchange)
            exchange.send_part(stream, message[1_000:])
            exchange.receive_until(bytes(1_400))


def test_started_message_of_a_conversation_must_end_in_time(dial):
    with small(request_seconds=0.1) as localnet:
        exchange = Exchanges(dial(localnet.url))
        stream = exchange.send("POST", REFLECTION, WEB, parts=None)
        exchange.send_part(stream, LIST_SERVICES + LIST_SERVICES[:-1])
        exchange.receive_until(b"sui.rpc.v2.StateService")
        assert exchange.receive_until(b"grpc-status:4\r\n")  # DEADLINE_EXCEEDED


def test_plain_request_above_the_memory_limit_is_refused(dial):
    with small(connection_bytes=1_000) as localnet:
        exchange = Exchanges(dial(localnet.url))
        stream = exchange.send("POST", "/v2/gas", parts=None)
        exchange.send_part(stream, b"{" + b" " * 1_000)
        headers, body = exchange.receive()
        assert headers[":status"] == "429"
        assert "1000 bytes" in json.loads(body)["error"]
