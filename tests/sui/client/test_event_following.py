import asyncio
from contextlib import aclosing

import pytest
from grpc import StatusCode
from msgspec.structs import astuple, replace

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings import tool_registry as registry_calls
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettingsChanged
from nexus_tools.errors import NotFoundError, RefusedOnChainError
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import (
    CHAIN_ROLLED_BACK,
    Cursor,
    EventFilter,
    EventRecord,
    Progress,
    RetryPolicy,
    SuiClient,
    follow_events,
)
from nexus_tools.sui.client.events.event_sources import CheckpointEventSource
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
"""Short delays between attempts, so that the tests are fast."""


@pytest.fixture
async def emit(chain):
    """Emit events that contain the given numbers, all in one transaction."""
    async with chain.client(chain.alice) as alice:
        settings = await ToolRegistry(alice, chain.deployment).settings()

    async def emit(*numbers):
        builder = TransactionBuilder()
        for number in numbers:
            changed = replace(settings, max_schema_bytes=number)
            registry_calls.configure(builder, *chain.administered, *astuple(changed))
        async with chain.client(chain.alice) as alice:  # a new client has no outdated cache
            await alice.execute(builder)

    return emit


def number_of(chain, record):
    return parse_event(chain.deployment, record.event).settings.max_schema_bytes


async def take(chain, items, count):
    """Return the numbers of the next `count` events."""
    numbers = []
    async for item in items:
        if isinstance(item, EventRecord):
            numbers.append(number_of(chain, item))
        if len(numbers) == count:
            return numbers
    raise AssertionError("the events ended")


@pytest.fixture
def everything(chain):
    return event_filter(chain.deployment, ToolSettingsChanged)


# --- Order, past and present


async def test_past_events_come_before_live_events(bob, chain, emit, everything):
    await emit(1)
    await emit(2, 3)
    async with aclosing(follow_events(bob, everything, Cursor.beginning())) as items:
        assert await take(chain, items, 3) == [1, 2, 3]
        await emit(4, 5)
        assert await take(chain, items, 2) == [4, 5]


async def test_follower_without_cursor_yields_only_new_events(bob, chain, emit, everything):
    await emit(1)
    async with aclosing(follow_events(bob, everything)) as items:
        assert isinstance(await anext(items), Progress)
        await emit(2)
        assert await take(chain, items, 1) == [2]


async def test_record_contains_the_position_of_its_event(bob, emit, everything):
    async with aclosing(follow_events(bob, everything, timestamps=True)) as items:
        await anext(items)
        await emit(1, 2)
        records = [item async for item in _first_events(items, 2)]
    executed = await bob.transaction(records[0].transaction_digest)
    assert [record.event for record in records] == list(executed.events)
    assert [record.event_index for record in records] == [0, 1]
    assert {record.checkpoint for record in records} == {executed.checkpoint}
    assert {record.timestamp_ms for record in records} == {executed.timestamp_ms}


async def _first_events(items, count):
    async for item in items:
        if isinstance(item, EventRecord):
            yield item
            count -= 1
        if not count:
            return


async def test_unmatched_events_are_skipped_with_progress(bob, chain, emit):
    nothing = EventFilter(chain.deployment.original_id, ("tool",), ("ToolRegistered",))
    async with aclosing(follow_events(bob, nothing)) as items:
        first = await anext(items)
        await emit(1)
        second = await anext(items)
    assert isinstance(first, Progress)
    assert isinstance(second, Progress)
    assert second.cursor.position > first.cursor.position


async def test_all_events_arrive_when_they_exceed_one_list(
    bob, chain, emit, everything, monkeypatch
):
    monkeypatch.setattr("nexus_tools.sui.client.events.event_sources.LIST_LIMIT", 7)
    for start in (0, 20):
        await emit(*range(start, start + 20))
    async with aclosing(follow_events(bob, everything, Cursor.beginning())) as items:
        assert await take(chain, items, 40) == list(range(40))


# --- Cursors


async def test_every_cursor_resumes_after_its_item(bob, chain, emit, everything):
    await emit(1, 2)
    await emit(3)
    async with aclosing(follow_events(bob, everything, Cursor.beginning())) as items:
        cursors = [item.cursor async for item in _first_events(items, 3)]
    await emit(4)
    for place, cursor in enumerate(cursors):
        for variant in (cursor, Cursor.parse(str(cursor)), cursor.without_token()):
            async with aclosing(follow_events(bob, everything, variant)) as items:
                expected = [1, 2, 3, 4][place + 1 :]
                assert await take(chain, items, len(expected)) == expected


async def test_token_of_another_node_is_dropped_and_the_position_kept(bob, chain, emit, everything):
    await emit(1, 2)
    async with aclosing(follow_events(bob, everything, Cursor.beginning())) as items:
        [first] = [item async for item in _first_events(items, 1)]
    foreign = Cursor(*first.cursor.position, token=b"another node's")
    async with aclosing(follow_events(bob, everything, foreign)) as items:
        assert await take(chain, items, 1) == [2]


# --- Disconnections


@pytest.fixture
async def relay(chain, relay_before):
    async with relay_before(chain) as relay:
        yield relay


@pytest.fixture
async def distant(relay):
    network = Network("localnet", f"http://127.0.0.1:{relay.port}")
    async with SuiClient(network, retry_policy=QUICK) as client:
        yield client


async def test_broken_connection_loses_and_repeats_nothing(distant, relay, chain, emit, everything):
    async with aclosing(follow_events(distant, everything)) as items:
        await anext(items)
        for number in range(1, 6):
            await emit(number)
            assert await take(chain, items, 1) == [number]
            relay.cut()
            await emit(100 + number, 200 + number)
            assert await take(chain, items, 2) == [100 + number, 200 + number]


async def test_follower_waits_for_an_unreachable_node(distant, relay, chain, emit, everything):
    async with aclosing(follow_events(distant, everything)) as items:
        await anext(items)
        port = relay.port
        await relay.stop()
        waiting = asyncio.create_task(take(chain, items, 2))
        await emit(1)
        await emit(2)
        assert not waiting.done()
        await relay.start(port)
        assert await waiting == [1, 2]


async def test_silent_stream_counts_as_broken(gateway, chain, emit, everything):
    retry_policy = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01, stream_timeout_s=0.05)
    async with (
        SuiClient(gateway.network, retry_policy=retry_policy) as client,
        aclosing(follow_events(client, everything)) as items,
    ):
        await anext(items)
        waiting = asyncio.create_task(take(chain, items, 1))
        await gateway.asked("SubscribeEvents", 4)
        await emit(1)
        assert await waiting == [1]


# --- Nodes that are rolled back

OFTEN = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01, mark_interval_s=0)
SELDOM = RetryPolicy(
    first_delay_s=0.001, max_delay_s=0.01, call_timeout_s=0.5, mark_interval_s=1_000
)


@pytest.fixture(params=["index", "checkpoints"])
async def marking(request, chain, monkeypatch):
    """Open a client that marks each checkpoint, at a node with or without an event index."""
    if request.param == "checkpoints":
        monkeypatch.setattr(
            "nexus_tools.sui.client.events.event_following.IndexEventSource", CheckpointEventSource
        )
    async with SuiClient(chain.network, retry_policy=OFTEN) as client:
        yield client


@pytest.fixture
async def hardly_marking(chain):
    async with SuiClient(chain.network, retry_policy=SELDOM) as client:
        yield client


async def pass_time(chain, checkpoints):
    """Extend a chain by transactions without events."""
    async with chain.client(chain.bob) as client:
        for _ in range(checkpoints):
            await client.execute(TransactionBuilder())


async def assert_went_back(chain, items):
    with pytest.raises(NotFoundError, match="rolled back") as caught:
        await take(chain, items, 1_000)
    assert caught.value.code == CHAIN_ROLLED_BACK


async def test_missing_mark_reveals_a_rollback_after_the_chain_regrew(
    marking, chain, emit, everything
):
    async with aclosing(follow_events(marking, everything)) as items:
        await anext(items)
        await emit(1)
        assert await take(chain, items, 1) == [1]
        snapshot = chain.net.snapshot()
        await pass_time(chain, 3)
        await emit(2)
        assert await take(chain, items, 1) == [2]
        chain.net.revert(snapshot)
        await pass_time(chain, 8)
        await assert_went_back(chain, items)


@pytest.mark.parametrize("seen", [(1,), ()])
@pytest.mark.parametrize("since", [(2,), ()])
async def test_changed_events_reveal_a_rollback_before_the_first_mark(
    hardly_marking, chain, emit, everything, seen, since
):
    async with aclosing(follow_events(hardly_marking, everything)) as items:
        reached = await anext(items)
        snapshot = chain.net.snapshot()
        for number in seen:
            await emit(number)
            assert await take(chain, items, 1) == [number]
        await pass_time(chain, 3)
        while reached.cursor.checkpoint < snapshot.checkpoint + 3:
            reached = await anext(items)
        chain.net.revert(snapshot)
        for number in since:
            await emit(number)
        await pass_time(chain, 8)
        if seen or since:
            await assert_went_back(chain, items)
        else:  # nothing was lost or rolled back
            await emit(3)
            assert await take(chain, items, 1) == [3]


async def test_node_that_stays_behind_counts_as_rolled_back(
    hardly_marking, chain, emit, everything
):
    snapshot = chain.net.snapshot()
    await emit(1)
    await pass_time(chain, 10)
    tip = Cursor.after_checkpoint(await hardly_marking.latest_checkpoint())
    async with aclosing(follow_events(hardly_marking, everything, tip)) as items:
        await anext(items)
        chain.net.revert(snapshot)
        await assert_went_back(chain, items)


async def test_cursor_beyond_the_chain_counts_as_rolled_back(hardly_marking, chain, everything):
    future = Cursor.after_checkpoint(await hardly_marking.latest_checkpoint() + 1_000)
    async with aclosing(follow_events(hardly_marking, everything, future)) as items:
        await assert_went_back(chain, items)


@pytest.fixture(params=["marks", "none"])
async def keeping(request, chain):
    """Open a client whose cursors have a mark of a checkpoint, or only of the last event."""
    retry_policy = OFTEN if request.param == "marks" else SELDOM
    async with SuiClient(chain.network, retry_policy=retry_policy) as client:
        yield client


async def kept_after(chain, items, count, *, checkpoint=0):
    """Return the text of the cursor after `count` events, and later ones up to a checkpoint."""
    cursor = None
    while count or cursor.checkpoint < checkpoint:
        item = await anext(items)
        count -= isinstance(item, EventRecord)
        cursor = item.cursor
    return str(cursor)


@pytest.mark.parametrize("pause", [0, 3])
async def test_stored_cursor_reveals_a_rollback_after_the_chain_regrew(
    keeping, chain, emit, everything, pause
):
    async with aclosing(follow_events(keeping, everything)) as items:
        await anext(items)
        await emit(1)
        assert await take(chain, items, 1) == [1]
        snapshot = chain.net.snapshot()
        await emit(2)
        await pass_time(chain, pause)
        kept = await kept_after(chain, items, 1, checkpoint=snapshot.checkpoint + pause)
    chain.net.revert(snapshot)
    await emit(3)
    await pass_time(chain, 8)
    again = Cursor.parse(kept)
    async with aclosing(follow_events(keeping, everything, again)) as items:
        with pytest.raises(NotFoundError, match="rolled back") as caught:
            await anext(items)
    assert caught.value.code == CHAIN_ROLLED_BACK
    assert caught.value.details["common"] <= snapshot.checkpoint


async def test_new_event_between_a_stored_cursor_and_its_mark_is_yielded(
    hardly_marking, chain, emit, everything
):
    async with aclosing(follow_events(hardly_marking, everything)) as items:
        await anext(items)
        await emit(1)
        snapshot = chain.net.snapshot()
        await pass_time(chain, 5)
        kept = await kept_after(chain, items, 1, checkpoint=snapshot.checkpoint + 5)
    chain.net.revert(snapshot)
    await emit(2)
    await pass_time(chain, 8)
    again = Cursor.parse(kept)
    async with aclosing(follow_events(hardly_marking, everything, again)) as items:
        assert await take(chain, items, 1) == [2]


async def test_stored_cursor_works_when_the_node_has_pruned_its_mark(
    gateway, keeping, chain, emit, everything
):
    async with aclosing(follow_events(keeping, everything)) as items:
        await anext(items)
        await emit(1)
        kept = await kept_after(chain, items, 1)
    await emit(2)
    gateway.fail("GetCheckpoint", StatusCode.NOT_FOUND)
    async with (
        SuiClient(gateway.network, retry_policy=SELDOM) as client,
        aclosing(follow_events(client, everything, Cursor.parse(kept))) as items,
    ):
        assert await take(chain, items, 1) == [2]


# --- Nodes without an index of events


@pytest.fixture
async def behind_gateway(gateway):
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        yield client


async def test_checkpoints_yield_the_same_events_without_an_index(
    gateway, behind_gateway, chain, emit, everything
):
    gateway.fail("ListEvents", StatusCode.UNIMPLEMENTED, "ledger history indexing is disabled")
    await emit(1)
    await emit(2, 3)
    start = Cursor(0, 0, 0, b"token")
    async with aclosing(follow_events(behind_gateway, everything, start)) as items:
        assert await take(chain, items, 3) == [1, 2, 3]
        await emit(4, 5)
        assert await take(chain, items, 2) == [4, 5]


async def test_index_and_checkpoints_yield_equal_records(bob, emit, everything, monkeypatch):
    await emit(1, 2)
    await emit(3)

    async def records():
        async with aclosing(follow_events(bob, everything, Cursor.beginning())) as items:
            found = [item async for item in _first_events(items, 3)]
        return [
            (item.cursor.position, item.event, item.transaction_digest, item.event_index)
            for item in found
        ]

    indexed = await records()
    monkeypatch.setattr(
        "nexus_tools.sui.client.events.event_following.IndexEventSource", CheckpointEventSource
    )
    assert await records() == indexed


async def test_refused_filter_raises_an_error(gateway, behind_gateway, everything):
    gateway.fail("ListEvents", StatusCode.INVALID_ARGUMENT, "no such filter")
    with pytest.raises(RefusedOnChainError, match="no such filter"):
        async with aclosing(follow_events(behind_gateway, everything, Cursor.beginning())) as items:
            await anext(items)
