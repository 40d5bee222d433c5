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
    """Invocations of two days ago, each in a checkpoint of its own, and one of now."""
    registered = await world.register_tool(add_definition())
    await world.new_leader()
    requested = []
    for n in range(20):
        requested += await world.request(registered, {"a": n, "b": 2})
    world.localnet.advance_clock(2 * DAY_MS)
    return requested + await world.request(registered, {"a": 1, "b": 2})


async def found_from(world, cursor, last):
    """The invocations of the events after a cursor, up to `last`."""
    found = []
    items = follow_events(world.client, event_filter(world.deployment, *KINDS), cursor)
    async with aclosing(items):
        async for item in items:
            if isinstance(item, EventRecord):
                found.append(parse_event(world.deployment, item.event).invocation)
                if found[-1] == last:
                    return found
    raise AssertionError("events end")


async def test_a_new_journal_begins_before_all_that_may_be_open_and_not_with_the_chain(
    world, requests
):
    kinds = event_filter(world.deployment, *KINDS)
    cursor = await starting_cursor(world.client, kinds, DAY_MS)
    found = await found_from(world, cursor, requests[-1])
    assert found == requests[-len(found) :]
    assert len(found) < 10


async def test_a_young_chain_is_read_from_its_beginning(world, requests):
    kinds = event_filter(world.deployment, *KINDS)
    cursor = await starting_cursor(world.client, kinds, 10**15)
    assert cursor == Cursor.beginning()
    assert await found_from(world, cursor, requests[-1]) == requests
