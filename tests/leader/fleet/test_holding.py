"""When a process runs the holder's components, and when it ends them."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from nexus_tools.leader.fleet.holding import Holding
from nexus_tools.leader.journal.lease import HoldingLostError
from nexus_tools.leader.metrics import LeaderMetrics

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60


class Work:
    """The holder's components, which run until they are cancelled or the test makes them fail."""

    def __init__(self):
        self.starts = self.ends = 0
        self.error = None
        self._changed = asyncio.Condition()
        self._fails = asyncio.Event()

    async def run(self):
        self.starts += 1
        await self._notify()
        try:
            await self._fails.wait()
            raise self.error
        finally:
            self.ends += 1
            self._fails.clear()
            asyncio.get_running_loop().create_task(self._notify())

    def fail(self, error):
        self.error = error
        self._fails.set()

    async def wait_for(self, starts, ends):
        async with asyncio.timeout(TIMEOUT_S), self._changed:
            await self._changed.wait_for(lambda: (self.starts, self.ends) == (starts, ends))

    async def _notify(self):
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def holding(journal):
    work, node = Work(), SimpleNamespace(is_cut_off=False)
    journal.is_ready = lambda: not node.is_cut_off
    holding = Holding(journal, work, LeaderMetrics().fleet, interval_s=0.01)
    task = asyncio.create_task(holding.run())
    try:
        yield work, node, task
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_components_run_while_the_process_is_the_holder(fleet):
    one, two = await fleet.join(hold_s=60), await fleet.join(hold_s=60)
    async with holding(one) as (work, _, _):
        await work.wait_for(1, 0)
        fleet.execute("UPDATE holder SET worker = %s", (two.worker,))
        await work.wait_for(1, 1)
        await two.release()
        await work.wait_for(2, 1)
    assert work.ends == 2


async def test_components_end_when_the_renewal_takes_too_long(fleet):
    """Another process may be the holder then."""
    one = await fleet.join(hold_s=1)
    async with holding(one) as (work, _, _):
        await work.wait_for(1, 0)
        await asyncio.to_thread(fleet.server.stop)
        try:
            await work.wait_for(1, 1)
        finally:
            await asyncio.to_thread(fleet.server.start)
        async with asyncio.timeout(TIMEOUT_S):
            while work.starts < 2:  # noqa: ASYNC110 - a busy machine may end it again
                await asyncio.sleep(0.01)


async def test_components_are_created_again_after_events_of_another_holder(fleet):
    one = await fleet.join(hold_s=60)
    async with holding(one) as (work, _, _):
        await work.wait_for(1, 0)
        work.fail(ExceptionGroup("tasks", [ExceptionGroup("more", [HoldingLostError()])]))
        await work.wait_for(2, 1)


async def test_other_errors_of_components_end_the_process(fleet):
    one = await fleet.join(hold_s=60)
    async with holding(one) as (work, _, task):
        await work.wait_for(1, 0)
        work.fail(ExceptionGroup("tasks", [HoldingLostError(), RuntimeError("a bug")]))
        with pytest.raises(ExceptionGroup):
            await task


async def test_process_without_a_node_leaves_the_holding_to_others(fleet):
    one = await fleet.join(hold_s=60)
    async with holding(one) as (work, node, _):
        await work.wait_for(1, 0)
        node.is_cut_off = True
        await one.beat(0)
        assert (work.starts, work.ends) == (1, 0)  # no other process exists
        two = await fleet.join(hold_s=60)
        await one.beat(0)
        await work.wait_for(1, 1)
        async with asyncio.timeout(TIMEOUT_S):
            while not await two.hold(60):
                pass
        await two.release()
        node.is_cut_off = False
        await work.wait_for(2, 1)
