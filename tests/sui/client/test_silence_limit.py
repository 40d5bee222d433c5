import asyncio

import pytest

from nexus_tools.sui.client.connection.silence_limit import SilenceLimit

pytestmark = pytest.mark.anyio


@pytest.fixture
def cancelled():
    return asyncio.Event()


@pytest.fixture
def limit(cancelled):
    limit = SilenceLimit(cancelled.set)
    yield limit
    limit.close()


async def timers_until(at):
    """Wait until all timers up to a time of the event loop have fired."""
    fired = asyncio.Event()
    asyncio.get_running_loop().call_at(at, fired.set)
    await fired.wait()


async def test_limit_cancels_a_late_frame(limit, cancelled):
    limit.start(asyncio.get_running_loop().time())
    await cancelled.wait()
    assert limit.is_exceeded


async def test_limit_does_not_run_while_a_frame_is_processed(limit, cancelled):
    now = asyncio.get_running_loop().time()
    limit.start(now)
    limit.stop()
    await timers_until(now + 0.001)
    assert not cancelled.is_set()


async def test_next_frame_has_its_own_limit(limit, cancelled):
    now = asyncio.get_running_loop().time()
    limit.start(now)
    limit.stop()
    limit.start(now + 1_000)
    await timers_until(now + 0.001)
    assert not cancelled.is_set()


async def test_earlier_limit_replaces_a_later_one(limit, cancelled):
    now = asyncio.get_running_loop().time()
    limit.start(now + 1_000)
    limit.stop()
    limit.start(now)
    await cancelled.wait()


async def test_closed_limit_never_cancels(limit, cancelled):
    now = asyncio.get_running_loop().time()
    limit.start(now)
    limit.close()
    await timers_until(now + 0.001)
    assert not cancelled.is_set()
