"""How many calls each tool may have at once, and whether it is being left alone."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from nexus_tools.leader.config import LeaderConfig
from nexus_tools.sui.address import Address


class BreakerState(Enum):
    """Closed lets calls through, open none, half-open one to try."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Leaves a tool alone for a while after it could not be reached several times in a row.

    `now` is a monotonic clock in seconds.
    """

    def __init__(self, failures: int, pause_seconds: float, now: Callable[[], float]) -> None:
        self._threshold = failures
        self._pause = pause_seconds
        self._now = now
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False
        self._closed = asyncio.Event()

    @property
    def state(self) -> BreakerState:
        """Where it stands now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        if self._now() < self._opened_at + self._pause:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    def admit(self) -> float:
        """0 if a call may go now, which is then reported; else the seconds to wait."""
        if self._opened_at is None:
            return 0.0
        left = self._opened_at + self._pause - self._now()
        if left > 0:
            return left
        if self._trying:
            return self._pause
        self._trying = True
        return 0.0

    async def wait(self, seconds: float) -> None:
        """Wait until the tool responds to another call, or so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def reached(self) -> None:
        """The tool responded, whatever it said."""
        self._failures = 0
        self._opened_at = None
        self._trying = False
        self._closed.set()

    def missed(self) -> None:
        """The tool did not respond."""
        self._failures += 1
        if self._trying or self._failures >= self._threshold:
            # A trial call that fails opens it again at once, for another pause.
            self._opened_at = self._now()
            self._closed.clear()
        self._trying = False

    def gave_up(self) -> None:
        """The call was given up without saying anything about the tool."""
        self._trying = False


_CAPACITY = 4_096


@dataclass(frozen=True, slots=True)
class Lane:
    """What one tool's calls share."""

    slots: asyncio.Semaphore
    breaker: CircuitBreaker


class ToolLanes:
    """The lanes of the tools that were called last."""

    def __init__(self, config: LeaderConfig, now: Callable[[], float]) -> None:
        self._config = config
        self._now = now
        self._lanes: OrderedDict[Address, Lane] = OrderedDict()

    def of(self, tool: Address) -> Lane:
        """The lane of `tool`."""
        lane = self._lanes.get(tool)
        if lane is None:
            lane = self._lanes[tool] = self._new()
            if len(self._lanes) > _CAPACITY:
                self._lanes.popitem(last=False)
        self._lanes.move_to_end(tool)
        return lane

    def open_breakers(self) -> int:
        """How many tools are left alone now."""
        lanes = self._lanes.values()
        return sum(lane.breaker.state is BreakerState.OPEN for lane in lanes)

    def _new(self) -> Lane:
        config = self._config
        breaker = CircuitBreaker(config.breaker_failures, config.breaker_pause_ms / 1000, self._now)
        return Lane(asyncio.Semaphore(config.max_concurrent_per_tool), breaker)
