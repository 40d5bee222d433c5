import asyncio
import socket
import ssl

import grpc
import grpc.aio
import pytest
from grpc import StatusCode
from msgspec.structs import replace

from benchmarks.proxy import Proxy
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
    UsageError,
)
from nexus_tools.sui.client import AnyLoopClient, RetryPolicy, SuiClient, UnsupportedByNodeError
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder

QUICK = RetryPolicy(attempts=3, first_delay_s=0.001)
ALL = {"paths": ["*"]}


# --- Retries


def test_pauses_double_up_to_the_maximum_with_jitter():
    pauses = RetryPolicy(first_delay_s=1.0, max_delay_s=4.0).delays()
    for longest in (1.0, 2.0, 4.0, 4.0):
        assert longest / 2 <= next(pauses) <= longest


@pytest.fixture
async def client(gateway):
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        yield client


async def test_call_retries_while_the_node_is_busy(gateway, client):
    gateway.fail("GetEpoch", StatusCode.UNAVAILABLE, count=2)
    assert await client.gas_price() > 0
    assert gateway.requests["GetEpoch"] == 3


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (StatusCode.UNAVAILABLE, (UnreachableError, "node_unreachable", 3)),
        (StatusCode.CANCELLED, (UnreachableError, "node_unreachable", 3)),
        (StatusCode.RESOURCE_EXHAUSTED, (UnreachableError, "node_busy", 3)),
        (StatusCode.INTERNAL, (UnreachableError, "node_unreachable", 1)),
        (StatusCode.NOT_FOUND, (NotFoundError, "not_found", 1)),
        (StatusCode.UNIMPLEMENTED, (UnsupportedByNodeError, "node_unsupported", 1)),
        (StatusCode.PERMISSION_DENIED, (NotAllowedError, "node_refused_access", 1)),
        (StatusCode.INVALID_ARGUMENT, (RefusedOnChainError, "refused_by_node", 1)),
    ],
)
async def test_failures_map_to_errors_and_only_transient_ones_are_retried(
    gateway, client, status, expected
):
    kind, code, count = expected
    gateway.fail("GetEpoch", status)
    with pytest.raises(kind) as caught:
        await client.gas_price()
    assert caught.value.code == code
    assert gateway.requests["GetEpoch"] == count


async def test_long_error_messages_arrive(gateway, client):
    gateway.fail("GetEpoch", StatusCode.INVALID_ARGUMENT, "because " * 5_000)
    with pytest.raises(RefusedOnChainError, match=r"(because ){5000}"):
        await client.gas_price()


# --- Time limits


async def test_call_fails_when_the_node_does_not_respond_in_time(silent_port):
    network = Network("silent", f"http://127.0.0.1:{silent_port}")
    retry_policy = RetryPolicy(attempts=2, first_delay_s=0.001, call_timeout_s=0.05)
    async with SuiClient(network, retry_policy=retry_policy) as client:
        with pytest.raises(UnreachableError) as caught:
            await client.gas_price()
    assert caught.value.code == "node_unreachable"


@pytest.fixture
def silent_port():
    """Listen on a port that accepts connections but sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_cancelled_call_ends_at_once_without_affecting_others(client):
    waiting = asyncio.create_task(client.gas_price())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await client.gas_price() > 0


async def test_pending_calls_fail_when_the_client_is_closed(chain):
    async with SuiClient(chain.network, retry_policy=QUICK) as client:
        stream = client.connection.stream("SubscriptionService/SubscribeCheckpoints")
        reading = asyncio.create_task(read_all(stream))
        await asyncio.wait({reading}, timeout=0.01)
    with pytest.raises(UsageError, match="not open"):
        await reading


async def read_all(stream):
    async for _ in stream:
        pass


# --- Connections


async def test_next_call_reconnects_after_a_lost_connection(chain, relay_before):
    async with relay_before(chain) as relay:
        network = Network("localnet", f"http://127.0.0.1:{relay.port}")
        async with SuiClient(network, retry_policy=QUICK) as client:
            for _ in range(3):
                assert await client.gas_price() > 0
                relay.cut()


async def test_retry_succeeds_when_the_node_starts_meanwhile(chain, relay_before):
    async with relay_before(chain) as relay:
        port = relay.port
        await relay.stop()
        network = Network("localnet", f"http://127.0.0.1:{port}")
        retry_policy = RetryPolicy(attempts=1_000, first_delay_s=0.001, max_delay_s=0.01)
        async with SuiClient(network, retry_policy=retry_policy) as client:
            waiting = asyncio.create_task(client.gas_price())
            await asyncio.wait({waiting}, timeout=0.05)
            assert not waiting.done()
            await relay.start(port)
            assert await waiting > 0


async def test_two_hundred_subscriptions_share_a_connection(chain, bob):
    async with SuiClient(chain.network) as client:
        streams = [
            client.connection.stream("SubscriptionService/SubscribeCheckpoints", read_mask=ALL)
            for _ in range(200)
        ]
        first = await asyncio.gather(*map(anext, streams))
        assert len(first) == 200
        await bob.execute(TransactionBuilder())
        second = await asyncio.gather(*map(anext, streams))
        assert len({frame.checkpoint.sequence_number for frame in second}) == 1
        for stream in streams:
            await stream.aclose()


# --- TLS


@pytest.fixture
def certificate(make_certificate):
    return make_certificate("127.0.0.1")


@pytest.fixture
async def tls_port(chain, certificate, relay_before):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.certificate, certificate.key)
    context.set_alpn_protocols(["h2"])
    async with relay_before(chain, context) as relay:
        yield relay.port


async def test_tls_node_is_reached_with_a_trusted_certificate(
    tls_port, certificate, chain, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
    network = Network("private", f"https://127.0.0.1:{tls_port}")
    async with SuiClient(network, retry_policy=QUICK) as client:
        assert await client.chain_id() == chain.deployment.chain_id


async def test_certificate_folder_is_trusted_when_set(
    tls_port, certificate, chain, monkeypatch, tmp_path
):
    folder = tmp_path / "certificates"
    folder.mkdir()
    (folder / "5ed36f99.0").write_bytes(certificate.certificate.read_bytes())
    (folder / "5ed36f99.1").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    network = Network("private", f"https://127.0.0.1:{tls_port}")
    async with SuiClient(network, retry_policy=QUICK) as client:
        assert await client.chain_id() == chain.deployment.chain_id


async def test_unknown_certificate_is_refused(tls_port):
    network = Network("private", f"https://127.0.0.1:{tls_port}")
    async with SuiClient(network, retry_policy=RetryPolicy(attempts=1)) as client:
        with pytest.raises(UnreachableError, match="certificate"):
            await client.chain_id()


# --- Dead connections


@pytest.fixture
async def proxy(chain):
    async with Proxy(int(chain.net.url.rpartition(":")[2])).running() as proxy:
        yield proxy


def behind(proxy, **retry_policy):
    quick = {"attempts": 4, "first_delay_s": 0.001, "max_delay_s": 0.01} | retry_policy
    return SuiClient(Network("localnet", proxy.url), retry_policy=RetryPolicy(**quick))


async def test_attempts_of_a_call_share_one_time_limit(proxy):
    proxy.swallow()
    async with behind(proxy, call_timeout_s=0.2) as client:
        with pytest.raises(UnreachableError, match=r"no response within 0\.2 s") as caught:
            await client.gas_price()
    assert caught.value.code == "node_unreachable"
    assert caught.value.details == {"url": proxy.url, "timeout_s": 0.2}
    assert proxy.connections == 1


async def test_next_call_uses_a_new_connection_after_a_timeout(proxy):
    async with behind(proxy, call_timeout_s=0.5) as client:
        assert await client.gas_price() > 0
        proxy.half_open()
        with pytest.raises(UnreachableError):
            await client.gas_price()
        assert await client.gas_price() > 0
    assert proxy.connections == 2


async def test_other_pending_calls_survive_a_timeout(gateway, chain):
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        stream = client.connection.stream("SubscriptionService/SubscribeCheckpoints", read_mask=ALL)
        await anext(stream)
        gateway.fail("GetEpoch", StatusCode.DEADLINE_EXCEEDED)
        with pytest.raises(UnreachableError):
            await client.gas_price()
        gateway.mend("GetEpoch")
        assert await client.gas_price() > 0
        assert (await anext(stream)).checkpoint.sequence_number > 0
        await stream.aclose()


def test_unbound_client_reconnects(chain):
    async def break_and_call():
        async with Proxy(int(chain.net.url.rpartition(":")[2])).running() as proxy:
            client = AnyLoopClient(
                Network("localnet", proxy.url), retry_policy=RetryPolicy(call_timeout_s=0.5)
            )
            assert await client.gas_price() > 0
            proxy.half_open()
            with pytest.raises(UnreachableError):
                await client.gas_price()
            assert await client.gas_price() > 0
            return proxy.connections

    assert asyncio.run(break_and_call()) == 2


async def test_stream_on_a_dead_connection_is_detected_by_pings(proxy):
    async with behind(proxy, keepalive_s=0.2) as client:
        stream = client.connection.stream("SubscriptionService/SubscribeCheckpoints", read_mask=ALL)
        await anext(stream)
        proxy.half_open()
        with pytest.raises(UnreachableError, match="ping"):
            async for _ in stream:
                pass
        assert await client.gas_price() > 0


class SilentStream(grpc.GenericRpcHandler):
    """A server that sends one empty frame of any stream, then nothing; gRPC counts pings."""

    def service(self, _details):
        return grpc.unary_stream_rpc_method_handler(self._stream)

    async def _stream(self, _request, _context):
        yield b""
        await asyncio.Event().wait()


async def test_stream_breaks_when_a_gateway_rejects_pings():
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((SilentStream(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    network = Network("localnet", f"http://127.0.0.1:{port}")
    async with SuiClient(network, retry_policy=RetryPolicy(keepalive_s=0.01)) as client:
        with pytest.raises(UnreachableError, match="pings"):
            await read_all(client.connection.stream("SubscriptionService/SubscribeCheckpoints"))
    await server.stop(None)


# --- Another chain behind the same URL

ELSEWHERE = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"


async def test_responses_of_another_chain_are_rejected(chain):
    async with chain.client() as client:
        client.connection.chain_id = ELSEWHERE
        with pytest.raises(UnreachableError) as caught:
            await client.gas_price()
        assert caught.value.code == "wrong_chain"
        assert chain.deployment.chain_id in caught.value.message
        assert ELSEWHERE in caught.value.message


async def test_errors_of_another_chain_are_rejected(chain):
    async with chain.client() as client:
        client.connection.chain_id = ELSEWHERE
        with pytest.raises(UnreachableError) as caught:
            await client.connection.call(
                "LedgerService/GetTransaction", digest=chain.deployment.chain_id
            )
        assert caught.value.code == "wrong_chain"


async def test_checkpoint_height_detects_another_chain_without_headers(gateway):
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        client.connection.chain_id = ELSEWHERE
        assert await client.gas_price() > 0  # this response does not name its chain
        with pytest.raises(UnreachableError, match=f"expected {ELSEWHERE}") as caught:
            await client.latest_checkpoint()
        assert caught.value.code == "wrong_chain"


async def test_right_chain_is_accepted_without_headers(chain, gateway):
    network = replace(gateway.network, chain_id=chain.deployment.chain_id)
    async with SuiClient(network, retry_policy=QUICK) as client:
        assert await client.gas_price() > 0
        assert await client.latest_checkpoint() > 0


async def test_streams_of_another_chain_are_rejected(chain):
    async with chain.client() as client:
        client.connection.chain_id = ELSEWHERE
        with pytest.raises(UnreachableError) as caught:
            await read_all(client.connection.stream("SubscriptionService/SubscribeCheckpoints"))
        assert caught.value.code == "wrong_chain"
