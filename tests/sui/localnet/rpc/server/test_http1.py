"""HTTP/1.1 byte by byte (RFC 9112): calls in gRPC-web and plain requests on one connection."""

import socket
import struct
import threading
from contextlib import suppress

import grpc
import httpx
import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.rpc import Limits

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
EMPTY = b"\0\0\0\0\0"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
LIST_SERVICES = b"\0\0\0\0\x02\x3a\0"  # list_services (field 7), an empty text


def request(path, body=EMPTY, *headers, method="POST", version="1.1"):
    lines = [
        f"{method} {path} HTTP/{version}",
        "host: localhost",
        "content-type: application/grpc-web+proto",
        *(headers or (f"content-length: {len(body)}",)),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_to_the_end(connection):
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


def read_until(connection, wanted, count=1):
    found = b""
    while found.count(wanted) < count:
        part = connection.recv(65536)
        assert part, found
        found += part
    return found


LAST_CHUNK = b"grpc-status:0\r\n\r\n0\r\n\r\n"


def test_connection_is_kept_alive_after_a_call(dial):
    connection = dial()
    for _ in range(3):
        connection.sendall(request(INFO))
        answer = read_until(connection, LAST_CHUNK)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(LAST_CHUNK)


def test_pipelined_calls_get_responses_in_order(dial):
    connection = dial()
    unknown = "/no.Such/Procedure"
    connection.sendall(request(INFO) + request(unknown) + request("/health", b"", method="GET"))
    connection.sendall(request(INFO, EMPTY, "content-length: 5", "connection: close"))
    answers = read_to_the_end(connection)
    places = [answers.index(item) for item in (LAST_CHUNK, b"grpc-status: 12", b'"chain_id"')]
    assert places == sorted(places)
    assert answers.endswith(LAST_CHUNK)
    assert answers.count(b"HTTP/1.1 200 ") == 4


def test_pipelined_calls_above_the_read_ahead_get_responses(dial):
    connection = dial()
    count = 1200
    calls = request("/no.Such/Procedure") * count
    assert len(calls) > 100_000
    sender = threading.Thread(target=connection.sendall, args=(calls,))
    sender.start()
    answers = read_until(connection, b"grpc-status: 12", count)
    sender.join()
    assert answers.count(b"HTTP/1.1 200 ") == count


def test_body_may_be_chunked(dial):
    connection = dial()
    connection.sendall(request(INFO, b"", "transfer-encoding: chunked"))
    for part in (EMPTY[:2], EMPTY[2:]):
        connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    connection.sendall(b"0\r\n\r\n")
    assert read_until(connection, LAST_CHUNK)


def test_client_that_expects_continue_gets_it(dial):
    connection = dial()
    connection.sendall(request(INFO, b"", "content-length: 5", "expect: 100-continue"))
    assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
    connection.sendall(EMPTY)
    assert read_until(connection, LAST_CHUNK).startswith(b"HTTP/1.1 200 ")


def test_http_1_0_client_gets_no_chunks(dial):
    connection = dial()
    connection.sendall(request(INFO, version="1.0"))
    answer = read_to_the_end(connection)
    assert b"transfer-encoding" not in answer.lower()
    assert answer.endswith(b"grpc-status:0\r\n")


def test_half_closed_client_gets_its_responses(dial):
    connection = dial()
    connection.sendall(request(INFO) * 2)
    connection.shutdown(socket.SHUT_WR)
    assert read_to_the_end(connection).count(LAST_CHUNK) == 2


def test_call_with_a_large_content_length_is_refused_immediately(dial):
    connection = dial()
    connection.sendall(request(INFO, b"", f"content-length: {Limits().request_bytes + 6}"))
    answer = read_to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"grpc-status: 8\r\n" in answer


def test_call_with_too_many_chunks_is_refused(dial):
    connection = dial()
    connection.sendall(request(INFO, b"", "transfer-encoding: chunked"))
    chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
    for _ in range(Limits().request_bytes // 2**20 + 1):
        connection.sendall(chunk)
    assert b"grpc-status: 8\r\n" in read_to_the_end(connection)


def test_native_grpc_over_http_1_gets_an_explanation(localnet):
    headers = {"content-type": "application/grpc"}
    answer = httpx.post(f"{localnet.url}{INFO}", content=EMPTY, headers=headers)
    assert answer.status_code == 415
    assert "gRPC-web" in answer.json()["error"]


@pytest.mark.parametrize(
    "refused", ["application/grpc", "application/connect+proto", "application/json", "text/plain"]
)
def test_unknown_content_type_is_refused_before_the_body_ends(dial, refused):
    connection = dial()
    lines = [f"POST {INFO} HTTP/1.1", "host: localhost", f"content-type: {refused}"]
    connection.sendall("\r\n".join([*lines, "transfer-encoding: chunked"]).encode() + b"\r\n\r\n")
    assert read_to_the_end(connection).startswith(b"HTTP/1.1 415 ")


def test_conversation_continues_before_its_client_ends_it(dial):
    connection = dial()
    connection.sendall(request(REFLECTION, b"", "transfer-encoding: chunked"))
    for _ in range(2):
        connection.sendall(b"7\r\n" + LIST_SERVICES + b"\r\n")
        assert b"sui.rpc.v2.LedgerService" in read_until(connection, b"StateService")
    connection.sendall(b"0\r\n\r\n")
    assert read_to_the_end(connection).endswith(LAST_CHUNK)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_call_with_another_method_than_post_is_refused(localnet, method):
    headers = {"content-type": "application/grpc-web"}
    answer = httpx.request(method, f"{localnet.url}{INFO}", headers=headers)
    assert answer.status_code == 405


SUBSCRIBE = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"


@pytest.mark.parametrize("leave", ["close", "half", "reset"])
def test_subscription_ends_when_its_client_disconnects(make_client, dial, leave):
    with ThreadedLocalnet(limits=Limits(subscriptions=1)) as localnet:
        first = dial(localnet.url)
        first.sendall(request(SUBSCRIBE))
        assert read_until(first, b"\x12")  # the first checkpoint has arrived
        if leave == "half":
            first.shutdown(socket.SHUT_WR)
            read_to_the_end(first)
        else:
            wait = struct.pack("ii", leave == "reset", 0)
            first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, wait)
            first.close()
        # The only slot is free again, at the latest when a checkpoint cannot be sent.
        client = make_client(localnet.url)
        assert any(is_free(localnet, client) for _ in range(1000))


def is_free(localnet, client):
    localnet.advance_clock(1)
    stream = client.stream("SubscriptionService/SubscribeCheckpoints")
    with suppress(grpc.RpcError):
        return next(stream).cursor > 0
    return False


def test_stopped_server_ends_its_streams(dial):
    with ThreadedLocalnet() as localnet:
        connection = dial(localnet.url)
        connection.sendall(request(SUBSCRIBE))
        read_until(connection, b"\x12")
    with suppress(ConnectionError):
        assert LAST_CHUNK not in read_to_the_end(connection)


GENESIS = b"\0\0\0\0\x07\x08\0\x1a\x03\x0a\x01*"  # sequence_number 0, every field: a megabyte


def test_client_that_does_not_read_is_dropped_at_its_deadline(dial):
    idle, other, count = dial(), dial(), 100
    path = "/sui.rpc.v2.LedgerService/GetCheckpoint"
    size = f"content-length: {len(GENESIS)}"
    idle.sendall(request(path, GENESIS, size, "grpc-timeout: 100m") * count)
    other.sendall(
        request(SUBSCRIBE, EMPTY, "content-length: 5", "grpc-timeout: 1S", "connection: close")
    )
    read_to_the_end(other)  # which takes a second
    received = b""
    with suppress(ConnectionError):
        received = read_to_the_end(idle)
    assert received.count(LAST_CHUNK) < count


def test_client_that_only_sends_is_not_read_until_it_reads(dial):
    connection = dial()
    connection.settimeout(0.2)
    asked = request("/health", b"", method="GET") * 500_000
    with pytest.raises(TimeoutError):
        connection.sendall(asked)


def test_head_request_gets_only_headers(dial):
    connection = dial()
    connection.sendall(request("/health", b"", "connection: close", method="HEAD"))
    answer = read_to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n")


def test_refusal_after_a_head_request_has_a_body(dial):
    connection = dial()
    connection.sendall(
        request("/health", b"", method="HEAD") + b"GET /health HTTP/1.1\r\n:\r\n\r\n"
    )
    answers = read_to_the_end(connection)
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 400 " in answers
    assert answers.endswith(b'{"error": "malformed request"}')


@pytest.mark.parametrize(
    "nonsense",
    [
        bytes(100),
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 20_000,
        request(INFO, b"", "content-length: -1"),
        request(INFO, b"", "content-length: 5", "content-length: 6"),
        request(INFO, b"", "content-length: " + "9" * 19),
        request(INFO, b"", "transfer-encoding: gzip"),
        request(INFO, b"zz\r\n", "transfer-encoding: chunked"),
        request(INFO, b"FFFFFFFFFFFFFFFFFFFFFF\r\n", "transfer-encoding: chunked"),
        request("/" + "a" * 30_000),
        request(INFO, EMPTY, "content-length: 5", "bad header: \x01"),
    ],
)
def test_garbage_ends_only_its_own_connection(localnet, dial, nonsense):
    connection = dial()
    with suppress(ConnectionError):
        connection.sendall(nonsense)
        connection.shutdown(socket.SHUT_WR)
        read_to_the_end(connection)
    assert httpx.get(f"{localnet.url}/health").status_code == 200
