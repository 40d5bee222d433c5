"""The workers' balances and earnings, and a warning if the funds do not suffice for an hour."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from nexus_tools.errors import NexusError
from nexus_tools.leader.closing.worker_funding import funding_command
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui

_log = get_logger("nexus_tools.leader")

HOUR_S = 3_600.0


class Earnings:
    """The earnings per hour, computed from samples of the total earnings. `now` is in seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add_sample(self, now: float, earned_mist: int) -> None:
        """Add a sample of the total earnings (fees minus gas) until `now`."""
        self._samples.append((now, earned_mist))
        # The newest sample that is at least an hour old is the start of the last hour.
        while len(self._samples) > 1 and self._samples[1][0] <= now - HOUR_S:
            self._samples.popleft()

    def mist_per_hour(self) -> int:
        """Return the earnings per hour in the last hour, or since a more recent first sample."""
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return round((last - first) * HOUR_S / (end - start)) if end > start else 0


@dataclass(frozen=True, slots=True)
class WorkerFunds:
    """The balances and earnings of the workers.

    `floor_mist` is the cost of a full transaction. `richest_mist` is the largest balance of one
    worker. `balance_mist` is the sum of all balances, including coins.
    """

    balance_mist: int
    richest_mist: int
    earned_mist_per_hour: int
    floor_mist: int

    @property
    def shortfall_mist(self) -> int:
        """The MIST that the workers lack for a full transaction or for another hour of losses."""
        lost = max(0, -self.earned_mist_per_hour)
        return max(
            0, self.floor_mist - self.richest_mist, self.floor_mist + lost - self.balance_mist
        )


class WorkerBalances:
    """A periodic check of balances, collateral and activity, with warnings before funds run out.

    `floor_mist` returns the cost of a full transaction at a gas price.
    """

    def __init__(
        self,
        workers: Workers,
        network: Network,
        *,
        metrics: LeaderMetrics,
        floor_mist: Callable[[int], int],
        interval_ms: int,
    ) -> None:
        self._workers = workers
        self._network = network
        self._metrics = metrics
        self._floor_mist = floor_mist
        self._interval = interval_ms / 1000
        self._earnings = Earnings()
        self._warned_at: float | None = None

    async def run(self) -> None:
        """Check the balances forever."""
        while True:
            try:
                await self.check()
            except NexusError as error:
                self._metrics.trouble.labels("money").inc()
                _log.info("balance_read_failed", error=error.message)
            await asyncio.sleep(self._interval)

    async def check(self) -> None:
        """Read the chain once, update the metrics, and warn if funds are low."""
        await self._workers.refresh()
        leader = self._workers.leader.leader
        now = asyncio.get_running_loop().time()
        self._earnings.add_sample(now, self._metrics.earned_mist)
        report = WorkerFunds(
            self._workers.total_mist,
            self._workers.richest_mist,
            self._earnings.mist_per_hour(),
            self._floor_mist(self._workers.epoch.gas_price),
        )
        self._metrics.workers.set(len(self._workers.listed))
        self._metrics.balance_mist.set(report.balance_mist)
        self._metrics.earned_mist_per_hour.set(report.earned_mist_per_hour)
        self._metrics.shortfall_mist.set(report.shortfall_mist)
        self._metrics.collateral_mist.set(leader.collateral.balance_mist)
        self._metrics.active.set(leader.is_active)
        self._warn(report, now)

    def _warn(self, report: WorkerFunds, now: float) -> None:
        """Warn when funds become low and then every hour. Log when the funds suffice again."""
        if not report.shortfall_mist:
            if self._warned_at is not None:
                _log.info("funds_sufficient", balance=sui(report.balance_mist))
            self._warned_at = None
        elif self._warned_at is None or now - self._warned_at >= HOUR_S:
            self._warned_at = now
            _log.warning(
                "funds_low",
                balance=sui(report.balance_mist),
                earned_per_hour=sui(report.earned_mist_per_hour),
                lacking=sui(report.shortfall_mist),
                send=funding_command(self._network, self._workers.richest, report.shortfall_mist),
            )
