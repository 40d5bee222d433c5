"""The claims of free invocations, and the comparison of tasks with the rows of this process."""

import asyncio
from contextlib import suppress

from nexus_tools.errors import NexusError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.metrics import FleetMetrics
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.types.address import Address

_MAX_ROWS = 64


class ClaimLoop:
    """A task that claims invocations while the workload has free capacity.

    It claims when `wake` is set, and at least every `interval_s` seconds. This process has at most
    `max_calls` tasks without an outcome, and at most `max_per_tool` for each tool. It calls the
    tools of all of them at once, so that no invocation waits here while another process is free.
    If the node lags behind, it claims only invocations that the node knows. If the node does not
    respond, it claims nothing, and after a while leaves all invocations to other processes. It also
    claims nothing while this process cannot close invocations but another process can.
    """

    def __init__(
        self,
        journal: FleetJournal,
        workload: Workload,
        chain: Chain,
        clock: ChainClock,
        metrics: FleetMetrics,
        *,
        max_calls: int,
        max_per_tool: int,
        interval_s: float = 1.0,
    ) -> None:
        self._journal = journal
        self._workload = workload
        self._chain = chain
        self._clock = clock
        self._metrics = metrics
        self._max_calls = max_calls
        self._max_per_tool = max_per_tool
        self._interval_s = interval_s
        self._has_capacity = True
        self.wake = asyncio.Event()
        workload.on_end = self._on_end

    async def run(self) -> None:
        """Claim invocations forever."""
        loop = asyncio.get_running_loop()
        reconciled_at = loop.time()
        while True:
            self.wake.clear()
            if loop.time() - reconciled_at >= self._journal.member.beat_s:
                await self.reconcile()
                reconciled_at = loop.time()
            if self._chain.is_cut_off and self._journal.has_ready_others:
                await self._hand_over()
            if not await self._claim():
                await self._wait()

    async def _wait(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._interval_s):
                await self.wake.wait()

    def _on_end(self, tool: Address) -> None:
        """Claim again if the end of a task, or its outcome, frees capacity."""
        count = self._workload.without_outcome[tool]
        if not self._has_capacity or count == self._max_per_tool - 1:
            self.wake.set()

    async def _claim(self) -> bool:
        """Claim invocations once, and return whether there may be more of them."""
        held = self._workload.without_outcome
        limit = min(_MAX_ROWS, self._workload.free_capacity, self._max_calls - held.total())
        self._has_capacity = limit > 0
        if not self._has_capacity or not self._chain.is_reachable or self._journal.leaves_work:
            return False
        try:
            height = await self._chain.lagging_height()
        except NexusError:
            return False  # the heartbeat reports the node
        claim = await self._journal.claim(
            self._clock.now_ms(),
            limit,
            held,
            self._max_per_tool,
            max_checkpoint=height,
        )
        await self._workload.resume(claim.entries)
        return claim.is_full

    async def _hand_over(self) -> None:
        """Leave all invocations to processes with another node, which can also close them."""
        if tracked := self._workload.tracked:
            self._workload.abandon(tracked)
            await self._journal.give_back_all()

    async def reconcile(self) -> None:
        """Start tasks for rows of this process without a task, and end tasks without a row.

        The answer to a claim may have been lost, and another process or the chain may have taken an
        invocation from this process.
        """
        tracked = self._workload.tracked
        owned = await self._journal.owned()
        self._metrics.owned.set(len(owned))
        if missing := owned - self._workload.tracked:
            await self._workload.resume(await self._journal.owned_entries(missing))
        if lost := tracked - owned:
            closed = await self._journal.closures(lost)
            self._workload.drop(closed)
            self._workload.abandon(lost - closed.keys())
