"""A node that accepts connections but is silent, and callers that do not wait forever."""

import asyncio

import pytest
from msgspec.structs import replace

from benchmarks.proxy import Proxy
from nexus_tools.errors import UnreachableError
from nexus_tools.sui.client import Cursor, EventFilter, RetryPolicy, SuiClient, follow_events
from nexus_tools.sui.client.connection.stall_timeout import StallTimeout
from nexus_tools.sui.network import Network

TIMEOUT_S = 20
HASTY = RetryPolicy.interactive(0.2)


@pytest.fixture
async def proxy(chain):
    async with Proxy(int(chain.net.url.rpartition(":")[2])).running() as proxy:
        yield proxy


@pytest.fixture
async def client(proxy):
    """Open a client that has reached the node, and has short time limits from now on."""
    async with SuiClient(Network("localnet", proxy.url)) as client:
        await client.chain_id()
        client.connection.retry_policy = HASTY
        client.connection.stall_timeout = StallTimeout(HASTY.unreachable_after_s)
        yield client


async def test_later_call_to_a_silent_node_fails_at_once(proxy, client):
    proxy.swallow()
    with pytest.raises(UnreachableError, match=r"no response within 0\.2 s"):
        await client.gas_price()
    seen = proxy.connections
    client.connection.retry_policy = replace(HASTY, call_timeout_s=3_600.0)
    async with asyncio.timeout(TIMEOUT_S):
        for _ in range(3):
            with pytest.raises(UnreachableError) as caught:
                await client.gas_price()
            assert caught.value.code == "node_unreachable"
            assert caught.value.details["timeout_s"] == 0.2
    assert proxy.connections == seen


async def test_pending_calls_end_with_the_first_that_times_out(proxy, client):
    proxy.swallow()
    first = asyncio.create_task(client.gas_price())
    await asyncio.sleep(0)
    client.connection.retry_policy = replace(HASTY, call_timeout_s=3_600.0)
    async with asyncio.timeout(TIMEOUT_S):
        errors = await asyncio.gather(first, client.chain_id(), return_exceptions=True)
    assert [error.code for error in errors] == ["node_unreachable"] * 2


async def test_silent_node_is_queried_each_time_without_a_limit(proxy):
    proxy.swallow()
    retry_policy = RetryPolicy(attempts=1, call_timeout_s=0.1)
    async with SuiClient(Network("localnet", proxy.url), retry_policy=retry_policy) as client:
        for _ in range(3):
            with pytest.raises(UnreachableError):
                await client.gas_price()
        assert proxy.connections == 3


@pytest.mark.parametrize("fault", ["swallow", "drop"])
@pytest.mark.parametrize("cursor", [None, Cursor.beginning()], ids=["live", "past"])
async def test_event_follower_fails_when_the_node_stays_silent(chain, proxy, client, fault, cursor):
    lost = getattr(proxy, fault)()
    if lost is not None:
        await lost
    told = []
    items = follow_events(
        client, EventFilter(chain.deployment.original_id), cursor, interrupted=told.append
    )
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(UnreachableError) as caught:
            await anext(items)
    assert caught.value.code == "node_unreachable"
    assert caught.value.details["timeout_s"] == 0.2
    assert (fault == "drop") == bool(told)  # a refused connection is retried in the time


async def test_failed_call_is_ignored_when_the_node_responded_since():
    now = asyncio.get_running_loop().time()
    silence = StallTimeout(10.0)
    silence.record_response()
    silence.record_failure(now - 5)
    assert silence.bound(now + 99) == now + 99


async def test_silence_starts_with_the_first_call_and_ends_with_a_response():
    now = asyncio.get_running_loop().time()
    silence = StallTimeout(10.0)
    silence.record_failure(now - 9)
    silence.record_failure(now - 2, "UNAVAILABLE")
    assert (silence.bound(now + 99), silence.is_exceeded) == (now + 1, False)
    silence.record_failure(now, "NOT_FOUND")
    assert silence.bound(now + 99) == now + 99
    silence = StallTimeout(10.0)
    silence.record_failure(now - 10)
    assert silence.is_exceeded
