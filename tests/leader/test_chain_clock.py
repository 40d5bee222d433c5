import asyncio

import pytest

from nexus_tools.errors import UnreachableError
from nexus_tools.leader.chain.clock import ChainClock

TIMEOUT_S = 20


class Chain:
    """A clock that stands still until the test moves it."""

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


async def test_clock_shows_the_time_of_the_chain(clock, chain):
    assert clock.now_ms() >= chain.time_ms


async def test_clock_never_runs_backwards(clock):
    clock.observe(2_000_000)
    clock.observe(1_500_000)
    assert clock.now_ms() >= 2_000_000


async def test_wait_returns_immediately_for_a_past_time(clock, chain):
    await clock.wait_until(chain.time_ms - 1)


async def test_wait_ends_when_the_chain_clock_jumps_forward(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        later = asyncio.create_task(clock.wait_until(chain.time_ms + 2 * 86_400_000))
        chain.time_ms += 86_400_001
        await waiting
        assert not later.done()
        later.cancel()


async def test_wait_ends_when_an_event_shows_the_time(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        await asyncio.sleep(0)
        clock.observe(chain.time_ms + 86_400_000)
        await waiting


async def test_short_wait_ends_when_the_time_has_passed(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        await clock.wait_until(chain.time_ms + 20)
    assert clock.now_ms() >= chain.time_ms + 20


async def test_clock_continues_while_the_node_is_unreachable(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        chain.away = True
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 86_400_000))
        for _ in range(3):
            await chain.refusals.acquire()
        chain.away = False
        chain.time_ms += 86_400_000
        await waiting


async def test_cancelled_wait_does_not_affect_others(clock, chain):
    async with asyncio.timeout(TIMEOUT_S):
        gone = asyncio.create_task(clock.wait_until(chain.time_ms + 1_000_000))
        waiting = asyncio.create_task(clock.wait_until(chain.time_ms + 1_000_000))
        await asyncio.sleep(0)
        gone.cancel()
        clock.observe(chain.time_ms + 1_000_000)
        await waiting


async def test_clock_follows_a_rollback_and_reports_it(clock, chain):
    chain.time_ms += 86_400_000
    await clock.refresh()
    chain.time_ms -= 86_400_000
    await clock.refresh()
    assert clock.now_ms() < chain.time_ms + 60_000
    assert "1 d" in clock.trouble or "23 h" in clock.trouble
    await clock.refresh()
    assert clock.trouble == ""


async def test_waits_continue_after_a_rollback(clock, chain):
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


async def test_slow_response_does_not_move_the_clock_back():
    """The response belongs to the time of the request, however long it takes."""
    gate, times = asyncio.Event(), iter([1_000_000, 1_000_001])

    async def read():
        await gate.wait()
        return next(times)

    clock = ChainClock(read, interval_ms=10)
    gate.set()
    await clock.refresh()
    gate.clear()
    requests = asyncio.create_task(clock.refresh())
    await asyncio.sleep(0)
    clock.observe(1_100_000)
    gate.set()
    await requests
    assert clock.now_ms() >= 1_100_000
    assert clock.trouble == ""


async def test_clock_follows_a_short_lag_when_it_persists(chain):
    clock = ChainClock(chain.read, interval_ms=10)
    await clock.refresh()
    chain.time_ms -= 5_000
    await clock.refresh()
    assert clock.now_ms() >= chain.time_ms + 5_000
    await clock.refresh()
    assert clock.now_ms() < chain.time_ms + 5_000
