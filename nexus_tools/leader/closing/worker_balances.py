"""The workers' money: what they have and earn, and whether that is enough for the next hour."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from nexus_tools.errors import NexusError
from nexus_tools.leader.closing.worker_funding import command_to_send
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui

_log = get_logger("nexus_tools.leader")

HOUR_S = 3_600.0


class Earnings:
    """What is earned in an hour, found from sums at some moments; `now` is in seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, now: float, earned_mist: int) -> None:
        """So much was earned until now, fees less gas."""
        self._seen.append((now, earned_mist))
        # One that is an hour old, or older, is where the last hour begins.
        while len(self._seen) > 1 and self._seen[1][0] <= now - HOUR_S:
            self._seen.popleft()

    def mist_per_hour(self) -> int:
        """At the rate of the last hour, or of the time since the first moment."""
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return round((last - first) * HOUR_S / (ended - began)) if ended > began else 0


@dataclass(frozen=True, slots=True)
class Purse:
    """What workers have and earn; `floor_mist` is what one transaction of one of them may need.

    `richest_mist` is the largest part of `balance_mist` that one worker has.
    """

    balance_mist: int
    richest_mist: int
    earned_mist_per_hour: int
    floor_mist: int

    @property
    def lacking_mist(self) -> int:
        """What they lack to lose for another hour as much as now, and still pay a transaction."""
        lost = max(0, -self.earned_mist_per_hour)
        return max(
            0, self.floor_mist - self.richest_mist, self.floor_mist + lost - self.balance_mist
        )


class Money:
    """Looks at workers, collateral and activity now and then, and warns before money ends.

    `floor_mist` is told each gas price.
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
        """Look without end."""
        while True:
            try:
                await self.look()
            except NexusError as error:
                self._metrics.trouble.labels("money").inc()
                _log.info("money_unread", error=error.message)
            await asyncio.sleep(self._interval)

    async def look(self) -> None:
        """Read the chain once, for the metrics and for the warning."""
        await self._workers.refresh()
        leader = self._workers.leader.leader
        now = asyncio.get_running_loop().time()
        self._earnings.see(now, self._metrics.earned_mist)
        purse = Purse(
            self._workers.total_mist,
            self._workers.richest_mist,
            self._earnings.mist_per_hour(),
            self._floor_mist(self._workers.epoch.gas_price),
        )
        self._metrics.workers.set(len(self._workers.listed))
        self._metrics.balance_mist.set(purse.balance_mist)
        self._metrics.earned_mist_per_hour.set(purse.earned_mist_per_hour)
        self._metrics.lacking_mist.set(purse.lacking_mist)
        self._metrics.collateral_mist.set(leader.collateral.balance_mist)
        self._metrics.active.set(leader.is_active)
        self._warn(purse, now)

    def _warn(self, purse: Purse, now: float) -> None:
        """Once when money gets short, once an hour while it is, and once when it is there."""
        if not purse.lacking_mist:
            if self._warned_at is not None:
                _log.info("money_enough", balance=sui(purse.balance_mist))
            self._warned_at = None
        elif self._warned_at is None or now - self._warned_at >= HOUR_S:
            self._warned_at = now
            _log.warning(
                "money_short",
                balance=sui(purse.balance_mist),
                earned_per_hour=sui(purse.earned_mist_per_hour),
                lacking=sui(purse.lacking_mist),
                send=command_to_send(self._network, self._workers.richest, purse.lacking_mist),
            )
