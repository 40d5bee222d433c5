import asyncio

import pytest

from nexus_tools.errors import UnreachableError
from nexus_tools.leader.chain.clock import ChainClock

TIMEOUT_S = 20


class Chain:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.time_ms = 1_000_000
        self.away = False
        self.refusals = asyncio.Semaphore(0)

    async def read(self):
        if self.away:
            self.refusals.release()
            raise UnreachableError("node_unreachable", "the node does not respond")
        return self.time_ms


@pytest.fixture
async def chain():
    return Chain()


@pytest.fixture
async def clock(chain):
    clock = ChainClock(chain.read, interval_ms=10)
    await clock.refresh()
    running = asyncio.create_task(clock.run())
    yield clock
    running.cancel()


async def test_it_tells_the_time_of_the_chain(clock, chain):
    assert clock.now_ms() >= chain.time_ms


async def test_it_never_runs_backwards(clock):
    clock.observe(2_000_000)
    clock.observe(1_500_000)
    assert clock.now_ms() >= 2_000_000


async def test_a_moment_in_the_past_is_not_waited_for(clock, chain):
    await clock.wait_until(chain.time_ms - 1)


async def test_who_waits_is_woken_when_the_clock_of_the_chain_was_moved(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        later = asyncio.create_task(clock.wait_until(chain.time_ms + 2 * 86_400_000))
        chain.time_ms += 86_400_001
        await waiting
        assert not later.done()
        later.cancel()


async def test_who_waits_is_woken_by_an_event_that_tells_the_time(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        await asyncio.sleep(0)
        clock.observe(chain.time_ms + 86_400_000)
        await waiting


async def test_a_short_wait_ends_by_the_passing_of_time(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        await clock.wait_until(chain.time_ms + 20)
    assert clock.now_ms() >= chain.time_ms + 20


async def test_a_node_that_is_away_does_not_end_the_clock(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        chain.away = True
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        for _ in range(3):
            await chain.refusals.acquire()
        chain.away = False
        chain.time_ms += 86_400_000
        await waiting


async def test_one_who_gives_up_does_not_disturb_the_others(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        gone = asyncio.create_task(clock.wait_until(chain.time_ms + 1_000_000))
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 1_000_000))
        await asyncio.sleep(0)
        gone.cancel()
        clock.observe(chain.time_ms + 1_000_000)
        await waiting


async def test_a_clock_that_was_set_back_is_followed_at_once_and_told(clock, chain):
    chain.time_ms += 86_400_000
    await clock.refresh()
    chain.time_ms -= 86_400_000
    await clock.refresh()
    assert clock.now_ms() < chain.time_ms + 60_000
    assert "1 d" in clock.trouble or "23 h" in clock.trouble
    await clock.refresh()
    assert clock.trouble == ""


async def test_a_clock_that_was_set_back_has_waits_go_on(clock, chain):
    chain.time_ms += 86_400_000
    await clock.refresh()
    chain.time_ms -= 86_400_000
    await clock.refresh()
    waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 3_600_000))
    await asyncio.sleep(0)
    assert not waiting.done()
    chain.time_ms += 3_600_000
    async with asyncio.timeout(TIMEOUT_S):
        await waiting


async def test_a_slow_answer_of_a_node_sets_no_clock_back():
    """The answer is of the time of the question, however long it takes to come."""
    gate, times = asyncio.Event(), iter([1_000_000, 1_000_001])

    async def read():
        await gate.wait()
        return next(times)

    clock = ChainClock(read, interval_ms=10)
    gate.set()
    await clock.refresh()
    gate.clear()
    asked = asyncio.create_task(clock.refresh())
    await asyncio.sleep(0)
    clock.observe(1_100_000)
    gate.set()
    await asked
    assert clock.now_ms() >= 1_100_000
    assert clock.trouble == ""


async def test_a_short_lag_is_followed_when_it_stays(chain):
    clock = ChainClock(chain.read, interval_ms=10)
    await clock.refresh()
    chain.time_ms -= 5_000
    await clock.refresh()
    assert clock.now_ms() >= chain.time_ms + 5_000
    await clock.refresh()
    assert clock.now_ms() < chain.time_ms + 5_000
