"""Properties of every call, independent of its procedure."""

import socket
from contextlib import suppress
from urllib.parse import urlsplit

import grpc
import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.localnet.rpc import Limits

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def is_closed(connection):
    """Return whether the other side has closed or reset the connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def raw(client, path, body=b"", **options):
    return client.channel.unary_unary(path)(body, timeout=20, **options)


def test_every_response_names_its_network(client):
    response, headers = client.call_with_headers("LedgerService/GetServiceInfo")
    assert headers["x-sui-chain-id"] == response.chain_id
    assert headers["x-sui-checkpoint-height"] == str(response.checkpoint_height)
    assert headers["x-sui-epoch"] == "0"
    assert int(headers["x-sui-timestamp-ms"]) // 1000 == response.timestamp.seconds
    assert headers["x-sui-lowest-available-checkpoint"] == "0"
    assert headers["x-sui-timestamp"] == response.timestamp.ToJsonString()
    assert headers["server"] == response.server


def test_error_names_its_network(client):
    with pytest.raises(grpc.RpcError) as caught:
        raw(client, "/no.Such/Procedure")
    headers = dict(caught.value.initial_metadata()) | dict(caught.value.trailing_metadata())
    assert "x-sui-chain-id" in headers


def test_unknown_procedure_is_not_implemented(client):
    code, details = expect_refusal(raw, client, "/sui.rpc.v2.LedgerService/Nonsense")
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "/sui.rpc.v2.LedgerService/Nonsense" in details


def test_every_procedure_is_served(client):
    for path in client.messages.procedures:
        call = client.channel.stream_stream(path)(iter([b""]), timeout=20)
        with suppress(grpc.RpcError):
            next(call, None)
        call.cancel()
        assert call.code() is not grpc.StatusCode.UNIMPLEMENTED, path


@pytest.mark.parametrize("body", [b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x02\xff\xfe"])
def test_bytes_that_are_not_a_message_are_refused(client, body):
    code, _ = expect_refusal(raw, client, "/sui.rpc.v2.LedgerService/GetObject", body)
    assert code is grpc.StatusCode.INVALID_ARGUMENT


def test_large_request_is_refused_before_it_is_read(client):
    code, details = expect_refusal(raw, client, INFO, b"\0" * (Limits().request_bytes + 1))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(Limits().request_bytes) in details


def test_compressed_request_is_refused(client):
    code, _ = expect_refusal(raw, client, INFO, b"\0" * 1000, compression=grpc.Compression.Gzip)
    assert code is grpc.StatusCode.UNIMPLEMENTED


def test_many_concurrent_calls_get_responses(client):
    stub = client.channel.unary_unary(INFO)
    futures = [stub.future(b"", timeout=20) for _ in range(300)]
    assert len([future.result() for future in futures]) == 300


def test_many_concurrent_streams_are_served(client):
    streams = [client.stream("SubscriptionService/SubscribeEvents") for _ in range(200)]
    assert all(next(stream).HasField("watermark") for stream in streams)
    assert client.call("LedgerService/GetServiceInfo").chain_id
    for stream in streams:
        stream.cancel()


def test_calls_above_the_limit_are_refused(make_client):
    with ThreadedLocalnet(limits=Limits(calls=2)) as localnet:
        client = make_client(localnet.url)
        streams = [client.stream("Health/Watch") for _ in range(2)]
        assert all(next(stream).status for stream in streams)
        code, details = expect_refusal(next, client.stream("Health/Watch"))
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "2 calls" in details
        assert client.call("LedgerService/GetServiceInfo").chain_id  # this call is short
        for stream in streams:
            stream.cancel()


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"P",
        b"\0" * 1000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        PREFACE,
        PREFACE + b"\xff" * 1000,
        PREFACE + b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\x08\xee\0\0\0\0\x01" + b"\0" * 8,
        PREFACE + b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\x05\x01\x05\0\0\0\x01" + b"\xff" * 5,
    ],
    ids=range(8),
)
def test_any_bytes_of_one_connection_do_not_affect_others(client, localnet, noise):
    host, _, port = urlsplit(localnet.url).netloc.partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(noise)
        assert client.call("LedgerService/GetServiceInfo").chain_id


def test_request_that_is_not_grpc_gets_an_http_error(localnet):
    import httpcore

    with httpcore.ConnectionPool(http1=False, http2=True) as pool:
        response = pool.request("POST", f"{localnet.url}{INFO}", headers={"content-type": "text/x"})
    assert response.status == 415


def test_call_is_ended_at_the_clients_deadline(client):
    stub = client.channel.unary_stream("/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints")
    code, _ = expect_refusal(lambda: list(stub(b"", timeout=0.2)))
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED


def test_connections_above_the_limit_are_closed_and_closed_ones_do_not_count():
    with ThreadedLocalnet(limits=Limits(connections=2)) as localnet:
        host, _, port = urlsplit(localnet.url).netloc.partition(":")

        def health(connection):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.recv(12)

        def connect():
            return socket.create_connection((host, int(port)), timeout=5)

        with connect() as first, connect() as second:
            assert (health(first), health(second)) == (b"HTTP/1.1 200", b"HTTP/1.1 200")
            with connect() as third:
                assert is_closed(third)
        with connect() as fourth:
            assert health(fourth) == b"HTTP/1.1 200"
