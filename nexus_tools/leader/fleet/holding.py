"""The competition of the processes of a fleet to be the holder."""

import asyncio

from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.holder import Holder
from nexus_tools.leader.journal.lease import HoldingLostError
from nexus_tools.leader.metrics import FleetMetrics
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")


class Holding:
    """A task that runs the holder's components while this process is the holder.

    Each renewal makes a process the holder for the time in its membership. It renews that, or tries
    to become the holder, every `interval_s` seconds.
    """

    def __init__(
        self,
        journal: FleetJournal,
        holder: Holder,
        metrics: FleetMetrics,
        *,
        interval_s: float = 1.0,
    ) -> None:
        self._journal = journal
        self._holder = holder
        self._metrics = metrics
        self._hold_s = journal.member.hold_s
        self._interval_s = interval_s

    async def run(self) -> None:
        """Become the holder whenever no other process is the holder."""
        while True:
            if self._is_able and await self._journal.hold(self._hold_s):
                await self._work()
                if not self._is_able:
                    await self._journal.release()
            await asyncio.sleep(self._interval_s)

    @property
    def _is_able(self) -> bool:
        """Whether this process can close invocations, or no other process could be the holder."""
        return not self._journal.leaves_work

    async def _work(self) -> None:
        """Run the components until another process is or may be the holder."""
        self._metrics.holder.set(1)
        _log.info("holding_started", process=self._journal.member.name)
        work = asyncio.create_task(self._holder.run())
        try:
            while await self._is_renewed(work):
                pass
        finally:
            self._metrics.holder.set(0)
            work.cancel()
            await asyncio.wait({work})
            error = None if work.cancelled() else work.exception()
            _log.info("holding_ended", process=self._journal.member.name)
        if error is not None and not _is_holding_lost(error):
            raise error

    async def _is_renewed(self, work: asyncio.Task[None]) -> bool:
        """Renew the holding after a while. Return False if it may have ended, or if `work` has."""
        done, _ = await asyncio.wait({work}, timeout=self._interval_s)
        if done or not self._is_able:
            return False
        renewal = asyncio.create_task(self._journal.hold(self._hold_s))
        # If this task is cancelled, asyncio must not log the renewal's error, which others report.
        renewal.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            await asyncio.wait(
                {work, renewal},
                timeout=self._hold_s - self._interval_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            return renewal.done() and renewal.result() and not work.done()
        finally:
            renewal.cancel()


def _is_holding_lost(error: BaseException) -> bool:
    """Return whether another process has become the holder, and nothing else happened."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_holding_lost, error.exceptions))
    return isinstance(error, HoldingLostError)
