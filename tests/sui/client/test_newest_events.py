from itertools import pairwise

import pytest
from grpc import StatusCode
from msgspec.structs import astuple, replace

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings import tool_registry as registry_calls
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettingsChanged
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import Cursor, EventPage, RetryPolicy, SuiClient, newest_events
from nexus_tools.sui.client.events.event_sources import CheckpointEventSource, IndexEventSource
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.transaction_builder import TransactionBuilder

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
EVENTS = 40


@pytest.fixture
async def history(chain):
    """Emit events with the numbers 0 to 39, two in each transaction. Return their filter."""
    async with chain.client(chain.alice) as alice:
        settings = await ToolRegistry(alice, chain.deployment).settings()
        for number in range(0, EVENTS, 2):
            builder = TransactionBuilder()
            for each in (number, number + 1):
                changed = replace(settings, max_schema_bytes=each)
                registry_calls.configure(builder, *chain.administered, *astuple(changed))
            await alice.execute(builder)
    return event_filter(chain.deployment, ToolSettingsChanged)


@pytest.fixture(params=["event index", "checkpoints"])
async def reader(request, chain, gateway):
    """A client of a node with an event index, and of a node without."""
    if request.param == "checkpoints":
        gateway.fail("ListEvents", StatusCode.UNIMPLEMENTED, "the index is disabled")
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        yield client


def numbers(chain, page):
    events = [parse_event(chain.deployment, record.event) for record in page.events]
    return [event.settings.max_schema_bytes for event in events]


async def read_pages(client, kinds, size):
    page = await newest_events(client, kinds, size)
    pages = [page]
    while page.next is not None:
        page = await newest_events(client, kinds, size, page.next)
        pages.append(page)
    return pages


async def test_newest_events_are_the_first_page(chain, reader, history):
    page = await newest_events(reader, history, 5)
    assert numbers(chain, page) == [39, 38, 37, 36, 35]


@pytest.mark.parametrize("size", [1, 7, 64])
async def test_pages_contain_each_event_once(chain, reader, history, size):
    pages = await read_pages(reader, history, size)
    read = [number for page in pages for number in numbers(chain, page)]
    assert read[:EVENTS] == [*range(EVENTS)][::-1]
    assert all(len(page.events) <= size for page in pages)
    records = [record for page in pages for record in page.events]
    assert all(a.cursor.position > b.cursor.position for a, b in pairwise(records))


async def test_page_starts_before_a_position_without_token(chain, reader, history):
    page = await newest_events(reader, history, 4)
    before = page.events[-1].cursor.without_token()
    assert numbers(chain, await newest_events(reader, history, 2, before)) == [35, 34]


async def test_page_starts_before_a_position_with_an_unknown_token(chain, reader, history):
    page = await newest_events(reader, history, 4)
    before = Cursor(*page.events[-1].cursor.position, token=b"of another node")
    assert numbers(chain, await newest_events(reader, history, 2, before)) == [35, 34]


async def test_page_is_complete_if_no_event_matches(chain, reader, history):
    nothing = event_filter(chain.deployment, ToolRegistered)
    page = await newest_events(reader, nothing, 5)
    assert (page.events, page.next) == ((), None)


async def test_sender_limits_the_page_to_its_transactions(chain, reader, history):
    by_alice = await newest_events(reader, history.sent_by(chain.alice.address), 3)
    by_bob = await newest_events(reader, history.sent_by(chain.bob.address), 3)
    assert numbers(chain, by_alice) == [39, 38, 37]
    assert (by_bob.events, by_bob.next) == ((), None)


async def test_page_ends_when_its_time_is_over(chain, gateway, history):
    gateway.fail("ListEvents", StatusCode.UNIMPLEMENTED, "the index is disabled")
    nothing = event_filter(chain.deployment, ToolRegistered)
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        newest = await client.latest_checkpoint()
        page = await newest_events(client, nothing, 5, max_read_s=0)
    assert page.events == ()
    assert page.next.checkpoint == newest - 15  # one group of 16 checkpoints


async def test_pruned_checkpoints_end_the_last_page(chain, bob, history, monkeypatch):
    oldest = (await newest_events(bob, history, 6)).events[-1].checkpoint
    read = CheckpointEventSource._read

    async def read_unpruned(self, number):
        if number < oldest:
            raise NotFoundError("history_missing", "the node has pruned the checkpoint")
        return await read(self, number)

    monkeypatch.setattr(CheckpointEventSource, "_read", read_unpruned)
    page = await CheckpointEventSource(bob.connection, history).part_before(None, 100)
    assert numbers(chain, page) == [39, 38, 37, 36, 35, 34]
    assert page.next is None


async def test_page_is_read_again_after_a_broken_stream(chain, gateway, history):
    gateway.fail("ListEvents", StatusCode.UNAVAILABLE, "the node restarts", count=2)
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        assert numbers(chain, await newest_events(client, history, 2)) == [39, 38]


async def test_scan_limit_leaves_a_position_to_continue(chain, history):
    """A node ends a sparse list early, with the position that it reached."""
    procedure = load_messages().procedures["/sui.rpc.v2.LedgerService/ListEvents"]
    frame = procedure.response(
        watermark={"checkpoint": 7, "cursor": b"reached"},
        end={"reason": "QUERY_END_REASON_SCAN_LIMIT"},
    )

    class StubConnection:
        async def stream(self, *_, **__):
            yield frame

    page = await IndexEventSource(StubConnection(), history).part_before(None, 10)
    assert page == EventPage((), Cursor(7, -1, -1, b"reached"))
