"""How a Leader that starts finds its schedules: in its journal, or in past events, once."""

import asyncio

import pytest

from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.executions import execution_reader
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange, Search
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules import schedule_search
from nexus_tools.leader.schedules.schedule_search import ScheduleSearch
from nexus_tools.sui.client import past_events
from tests.leader.test_faults import QUICK
from tests.leader.test_schedules import HOUR_MS, create, leader, schedules, wait_for_events

__all__ = ["create", "leader", "schedules"]

pytestmark = pytest.mark.anyio

YEAR_MS = 365 * 24 * HOUR_MS


@pytest.fixture
def reads(monkeypatch):
    """Record the names of the modules that read all events since a position."""
    names = []

    def recorded(name):
        def read(*arguments):
            names.append(name)
            return past_events(*arguments)

        return read

    for module in (schedule_search, execution_reader):
        name = module.__name__.rpartition(".")[2]
        monkeypatch.setattr(module, "past_events", recorded(name))
    return names


@pytest.fixture
def finished(monkeypatch):
    """Return an event that is set when both searches are recorded as finished."""
    searches, finished = set(), asyncio.Event()

    def noting(name):
        original = getattr(Journal, name)

        async def finish(self, found):
            await original(self, found)
            searches.add(name)
            if len(searches) == 2:
                finished.set()

        return finish

    for name in ("finish_execution_search", "finish_schedule_search"):
        monkeypatch.setattr(Journal, name, noting(name))
    return finished


async def search_once(world, leader, finished):
    """Run a Leader with a new journal until it has searched the past events."""
    async with world.running(leader, lookback_ms=0), asyncio.timeout(60):
        await finished.wait()


async def test_restarted_leader_triggers_old_schedules_without_reading_past_events(
    world, leader, create, finished, reads
):
    at_ms = await world.client.now_ms() + 2 * YEAR_MS + HOUR_MS
    schedule = await create(Timing(Plan.At((at_ms,)), None))
    world.localnet.advance_clock(2 * YEAR_MS)
    await search_once(world, leader, finished)
    assert sorted(reads) == ["execution_reader", "schedule_search"]
    world.localnet.advance_clock(HOUR_MS)
    async with world.running(leader, lookback_ms=0):
        triggered = await wait_for_events(world, moves.ScheduleTriggered, 1)
    assert [event.schedule for event in triggered] == [schedule]
    assert len(reads) == 2


async def test_leader_on_a_new_machine_triggers_a_schedule_older_than_its_lookback(
    world, leader, create
):
    schedule = await create()
    world.localnet.advance_clock(2 * YEAR_MS)
    async with world.running(leader, lookback_ms=0):
        (triggered,) = await wait_for_events(world, moves.ScheduleTriggered, 1)
        assert triggered.schedule == schedule
        await wait_for_events(world, executions.ExecutionEnded, 1)


async def test_followed_schedules_remain_after_a_restart(world, leader, create, reads, finished):
    await search_once(world, leader, finished)
    reads.clear()
    async with world.running(leader, lookback_ms=0):
        schedule = await create()
        # The first execution shows that the Leader has recorded the event of the creation.
        world.localnet.advance_clock(HOUR_MS)
        await wait_for_events(world, executions.ExecutionEnded, 1)
    world.localnet.advance_clock(YEAR_MS)
    async with world.running(leader, lookback_ms=0):
        triggered = await wait_for_events(world, moves.ScheduleTriggered, 2)
    assert [event.schedule for event in triggered] == [schedule, schedule]
    assert reads == []


@pytest.fixture
async def journal(tmp_path):
    journal = await Journal.open(tmp_path / "search.sqlite", "identity")
    yield journal
    await journal.close()


@pytest.fixture
def search(world, leader, journal):
    chain = Chain(world.client, world.deployment, leader.id)
    return ScheduleSearch(world.config(leader), chain, journal, LeaderMetrics())


async def test_search_finds_schedules_that_still_name_the_leader(
    world, leader, create, schedules, search, journal
):
    other = await world.new_leader("other")
    kept, taken, given, cancelled = [await create() for _ in range(4)]
    await schedules.set_leaders(taken, [other.id])
    await schedules.set_leaders(given, [other.id])
    await schedules.set_leaders(given, [other.id, leader.id])
    await schedules.cancel(cancelled)
    found = await search.run()
    assert set(found) == {kept, given}
    memory = await journal.recover()
    assert {schedule: since.position for schedule, since in memory.schedules.items()} == {
        schedule: since.position for schedule, since in found.items()
    }
    assert memory.searches == {Search.SCHEDULES}


async def test_search_starts_event_schedules_after_their_cursor_reset(
    world, create, schedules, search
):
    awaited = f"{world.deployment.original_id}::tool::ToolRegistered"
    schedule = await create(Timing(Plan.OnEvent(awaited, 10_000, 100), None))
    sent = await schedules.reset_cursor(schedule)
    reset = await world.client.transaction(sent.digest)
    assert (await search.run())[schedule].checkpoint == reset.checkpoint


async def test_search_omits_schedules_that_followed_events_remove(create, search, journal):
    kept, removed = await create(), await create()
    search.observe([ScheduleChange(removed, Naming.NOT_NAMED, schedule_search.Cursor.beginning())])
    assert set(await search.run()) == {kept}
    assert set((await journal.recover()).schedules) == {kept}


async def test_search_with_pruned_history_is_repeated_at_the_next_start(
    search, journal, monkeypatch
):
    async def pruned(*_):
        raise schedule_search.NexusError("history_missing", "the node has pruned its history")
        yield

    monkeypatch.setattr(schedule_search, "past_events", pruned)
    assert await search.run() == {}
    assert (await journal.recover()).searches == frozenset()


async def test_search_continues_where_the_node_became_unreachable(create, search, monkeypatch):
    created = [await create() for _ in range(3)]
    places = []

    async def interrupted(client, kinds, after):
        places.append(after)
        async for record in past_events(client, kinds, after):
            yield record
            if len(places) < 3:
                raise schedule_search.UnreachableError("node_unreachable", "the node is away")

    monkeypatch.setattr(schedule_search, "past_events", interrupted)
    assert set(await search.run()) == set(created)
    assert places[0] is None
    assert places[1].position < places[2].position


async def test_rolled_back_cancellation_does_not_remove_the_schedule(
    world, leader, create, schedules
):
    schedule = await create()
    async with world.running(leader, **QUICK):
        world.localnet.advance_clock(HOUR_MS)  # its worker deposits coins before the snapshot
        await wait_for_events(world, executions.ExecutionEnded, 1)
        snapshot = world.localnet.snapshot()
        await schedules.cancel(schedule)
        await wait_for_events(world, moves.ScheduleCancelled, 1)
        world.localnet.revert(snapshot)
        async with world.again() as after:
            world.localnet.advance_clock(HOUR_MS)
            triggered = await wait_for_events(after, moves.ScheduleTriggered, 2)
    assert {event.schedule for event in triggered} == {schedule}
