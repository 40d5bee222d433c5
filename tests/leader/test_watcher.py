from contextlib import aclosing

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.leader.intake.event_page import KINDS
from nexus_tools.leader.intake.watcher import starting_cursor
from nexus_tools.sui.client import Cursor, EventRecord, follow_events

pytestmark = pytest.mark.anyio

DAY_MS = 86_400_000


@pytest.fixture
async def requests(world, add_definition):
    """Return invocations from two days ago, each in its own checkpoint, and a current one."""
    registered = await world.register_tool(add_definition())
    await world.new_leader()
    requested = []
    for n in range(20):
        requested += await world.request(registered, {"a": n, "b": 2})
    world.localnet.advance_clock(2 * DAY_MS)
    return requested + await world.request(registered, {"a": 1, "b": 2})


async def invocations_after(world, cursor, last):
    """Return the invocations of the events after a cursor, up to `last`."""
    result = []
    items = follow_events(world.client, event_filter(world.deployment, *KINDS), cursor)
    async with aclosing(items):
        async for item in items:
            if isinstance(item, EventRecord):
                result.append(parse_event(world.deployment, item.event).invocation)
                if result[-1] == last:
                    return result
    raise AssertionError("events end")


async def test_new_journal_starts_before_open_invocations_but_not_at_genesis(world, requests):
    kinds = event_filter(world.deployment, *KINDS)
    cursor = await starting_cursor(world.client, kinds, DAY_MS)
    result = await invocations_after(world, cursor, requests[-1])
    assert result == requests[-len(result) :]
    assert len(result) < 10


async def test_young_chain_is_read_from_its_start(world, requests):
    kinds = event_filter(world.deployment, *KINDS)
    cursor = await starting_cursor(world.client, kinds, 10**15)
    assert cursor == Cursor.beginning()
    assert await invocations_after(world, cursor, requests[-1]) == requests
