"""Notifications that invocations are free."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.fleet import listener
from nexus_tools.leader.fleet.listener import Listener
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60


class Wakes:
    """A count of notifications."""

    def __init__(self):
        self.count = 0
        self._changed = asyncio.Event()

    def __call__(self):
        self.count += 1
        self._changed.set()

    async def wait_for(self, count):
        async with asyncio.timeout(TIMEOUT_S):
            while self.count < count:
                self._changed.clear()
                await self._changed.wait()
        assert self.count == count


@asynccontextmanager
async def listening(fleet):
    wakes = Wakes()
    task = asyncio.create_task(Listener(fleet.location, "test", wakes).run())
    try:
        await wakes.wait_for(1)  # once after it is connected
        yield wakes
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.fixture(autouse=True)
def short_delay(monkeypatch):
    monkeypatch.setattr(listener, "_RETRY_DELAY_S", 0.01)


async def test_process_is_woken_when_invocations_become_free(fleet, assignment_of, claim):
    one, two = await fleet.join(), await fleet.join()
    await one.recover()
    async with listening(fleet) as wakes:
        await one.record_events([assignment_of(1)], {}, "c", 0)
        await wakes.wait_for(2)
        await one.record_events([assignment_of(1)], {Address.of(2): ClosureKind.MISSED}, "d", 0)
        await claim(two)
        await two.give_back(Address.of(1))
        await wakes.wait_for(3)
        await one.reopen([Address.of(1)])
        await wakes.wait_for(4)
        fleet.age(one.worker, 60, "steady_since")
        fleet.age(two.worker, 60)
        await one.beat(0)
        await wakes.wait_for(5)
        await one.close()
        await wakes.wait_for(6)


async def test_listener_connects_again_and_wakes_once(fleet, assignment_of):
    one = await fleet.join()
    await one.recover()
    async with listening(fleet) as wakes:
        await asyncio.to_thread(fleet.server.cut_sessions)
        await wakes.wait_for(2)
        await one.record_events([assignment_of(1)], {}, "c", 0)
        await wakes.wait_for(3)


async def test_journals_in_other_schemas_do_not_wake_it(postgres, fleet, assignment_of):
    other = type(fleet)(postgres)
    one, two = await fleet.join(), await other.join()
    for journal in (one, two):
        await journal.recover()
    async with listening(fleet) as wakes:
        await two.record_events([assignment_of(1)], {}, "c", 0)
        await one.record_events([assignment_of(1)], {}, "c", 0)
        await wakes.wait_for(2)
    await two.close()
