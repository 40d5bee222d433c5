"""A node that connections reach and that says nothing, and somebody who does not wait for ever."""

import asyncio

import pytest
from msgspec.structs import replace

from benchmarks.proxy import Proxy
from nexus_tools.errors import UnreachableError
from nexus_tools.sui.client import Cursor, EventFilter, Patience, SuiClient, follow_events
from nexus_tools.sui.client.connection.stall_timeout import Silence
from nexus_tools.sui.network import Network

TIMEOUT_S = 20
HASTY = Patience.of_a_person(0.2)


@pytest.fixture
async def proxy(chain):
    async with Proxy(int(chain.net.url.rpartition(":")[2])).running() as proxy:
        yield proxy


@pytest.fixture
async def client(proxy):
    """A client that has heard of the node, and waits for nothing much longer from now on."""
    async with SuiClient(Network("localnet", proxy.url)) as client:
        await client.chain_id()
        client.connection.patience = HASTY
        client.connection.silence = Silence(HASTY.absence_s)
        yield client


async def test_who_asks_a_silent_node_again_is_told_at_once(proxy, client):
    proxy.swallow()
    with pytest.raises(UnreachableError, match=r"no answer within 0\.2 s"):
        await client.gas_price()
    seen = proxy.connections
    client.connection.patience = replace(HASTY, call_timeout_s=3_600.0)
    async with asyncio.timeout(TIMEOUT_S):
        for _ in range(3):
            with pytest.raises(UnreachableError) as caught:
                await client.gas_price()
            assert caught.value.code == "node_unreachable"
            assert caught.value.details["timeout_s"] == 0.2
    assert proxy.connections == seen


async def test_what_was_asked_meanwhile_ends_with_the_first_that_ends(proxy, client):
    proxy.swallow()
    first = asyncio.create_task(client.gas_price())
    await asyncio.sleep(0)
    client.connection.patience = replace(HASTY, call_timeout_s=3_600.0)
    async with asyncio.timeout(TIMEOUT_S):
        errors = await asyncio.gather(first, client.chain_id(), return_exceptions=True)
    assert [error.code for error in errors] == ["node_unreachable"] * 2


async def test_without_an_end_of_patience_a_silent_node_is_asked_each_time(proxy):
    proxy.swallow()
    patience = Patience(attempts=1, call_timeout_s=0.1)
    async with SuiClient(Network("localnet", proxy.url), patience=patience) as client:
        for _ in range(3):
            with pytest.raises(UnreachableError):
                await client.gas_price()
        assert proxy.connections == 3


@pytest.mark.parametrize("fault", ["swallow", "drop"])
@pytest.mark.parametrize("cursor", [None, Cursor.beginning()], ids=["live", "past"])
async def test_whoever_follows_events_of_a_node_that_stays_away_is_told(
    chain, proxy, client, fault, cursor
):
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
    assert (fault == "drop") == bool(told)  # who is refused at once tries again in the time


async def test_a_call_that_ends_says_nothing_of_a_node_that_was_heard_since():
    now = asyncio.get_running_loop().time()
    silence = Silence(10.0)
    silence.hear()
    silence.fail(now - 5)
    assert silence.bound(now + 99) == now + 99


async def test_silence_begins_with_the_first_question_and_ends_with_an_error_of_the_node():
    now = asyncio.get_running_loop().time()
    silence = Silence(10.0)
    silence.fail(now - 9)
    silence.fail(now - 2, "UNAVAILABLE")
    assert (silence.bound(now + 99), silence.is_over_long) == (now + 1, False)
    silence.fail(now, "NOT_FOUND")
    assert silence.bound(now + 99) == now + 99
    silence = Silence(10.0)
    silence.fail(now - 10)
    assert silence.is_over_long
