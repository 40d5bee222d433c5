"""HTTP/2 that is not native gRPC: gRPC-web as proxies forward it, and plain requests."""

import json

import h2.connection
import h2.events
import pytest

from nexus_tools.localnet import ThreadedLocalnet
from nexus_tools.localnet.rpc import Limits

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
        """A request; with no parts it is only a head, and with None it goes on."""
        stream = self.http.get_next_available_stream_id()
        head = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "a")]
        self.http.send_headers(stream, [*head, *headers], end_stream=parts == ())
        for index, part in enumerate(parts or (), 1):
            self.http.send_data(stream, part, end_stream=index == len(parts))
        self.socket.sendall(self.http.data_to_send())
        return stream

    def send_part(self, stream, part):
        self.http.send_data(stream, part)
        self.socket.sendall(self.http.data_to_send())

    def receive_until(self, wanted):
        """The body of what comes, up to some bytes."""
        body = b""
        while wanted not in body:
            for event in self.http.receive_data(self.socket.recv(65536)):
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
        return body

    def receive(self):
        """The headers and body of what comes next."""
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
def test_a_call_gets_its_response_whatever_the_parts_it_comes_in(exchange, web, parts):
    headers, body = exchange("POST", INFO, WEB, parts=parts)
    assert headers[":status"] == "200"
    assert headers["content-type"] == "application/grpc-web+proto"
    (flags, message), last = web.frames(body)
    assert flags == 0
    response = web.messages.procedures[INFO].response.FromString(message)
    assert response.chain_id == headers["x-sui-chain-id"]
    assert last == (0x80, b"grpc-status:0\r\n")


def test_text_gets_text_back(exchange):
    headers, body = exchange(
        "POST", INFO, TEXT, ("accept", "application/grpc-web-text"), parts=[b"AAAA", b"AAA="]
    )
    assert headers["content-type"] == "application/grpc-web-text+proto"
    assert body.endswith(b"gAAAAA9ncnBjLXN0YXR1czowDQo=")  # the frame of `grpc-status:0`


def test_an_error_is_in_the_head(exchange):
    headers, body = exchange("POST", "/no.Such/Procedure", WEB, parts=[EMPTY])
    assert headers["grpc-status"] == "12"
    assert body == b""


@pytest.mark.parametrize("refused", ["application/connect+proto", "application/json"])
def test_a_content_type_that_is_not_served_is_refused_before_the_body_ends(exchange, refused):
    exchange.send("POST", INFO, ("content-type", refused), parts=None)
    headers, body = exchange.receive()
    assert headers[":status"] == "415"
    assert "gRPC-web" in json.loads(body)["error"]


def test_a_conversation_in_grpc_web_goes_on_before_its_client_ends_it(exchange):
    stream = exchange.send("POST", REFLECTION, WEB, parts=None)
    for _ in range(2):
        exchange.send_part(stream, LIST_SERVICES)
        exchange.receive_until(b"sui.rpc.v2.StateService")
    exchange.http.end_stream(stream)
    exchange.socket.sendall(exchange.http.data_to_send())
    assert exchange.receive_until(b"grpc-status:0\r\n")


def test_one_connection_carries_many_exchanges(exchange):
    for _ in range(3):
        headers, _ = exchange("POST", INFO, WEB, parts=[EMPTY])
        assert headers[":status"] == "200"


def test_a_stream_is_cut_when_the_client_resets_it(exchange):
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


def test_a_preflight_gets_its_response(exchange):
    headers, body = exchange("OPTIONS", INFO, ("origin", "https://dapp.example"))
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
