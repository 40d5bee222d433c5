"""What is known of each tool: whether it responds, is left alone, or may not be called at all."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from nexus_tools.leader.config import LeaderConfig
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")


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


@dataclass(slots=True)
class Lane:
    """What one tool's calls share; what changes is told once, not with each call."""

    fqn: str
    breaker: CircuitBreaker
    is_down: bool = False
    refusal: str = ""

    def reached(self) -> None:
        """The tool responded, whatever it said."""
        self.breaker.reached()
        if self.is_down or self.refusal:
            _log.info("tool_up", fqn=self.fqn)
        self.is_down, self.refusal = False, ""

    def missed(self, why: str, refusal: str = "") -> None:
        """The tool did not respond, or its address was refused."""
        self.breaker.missed()
        if refusal:
            self.refused(refusal)
        elif not self.is_down and self.breaker.state is BreakerState.OPEN:
            self.is_down = True
            _log.warning("tool_down", fqn=self.fqn, why=why)

    def refused(self, why: str) -> None:
        """The Leader does not connect to where the tool is."""
        if why != self.refusal:
            _log.warning("address_refused", fqn=self.fqn, why=why)
        self.refusal = why


class ToolLanes:
    """The lanes of the tools that were called last."""

    def __init__(self, config: LeaderConfig, now: Callable[[], float]) -> None:
        self._config = config
        self._now = now
        self._lanes: OrderedDict[Address, Lane] = OrderedDict()

    def of(self, tool: Address, fqn: str) -> Lane:
        """The lane of `tool`."""
        lane = self._lanes.get(tool)
        if lane is None:
            lane = self._lanes[tool] = Lane(fqn, self._breaker())
            if len(self._lanes) > _CAPACITY:
                self._lanes.popitem(last=False)
        self._lanes.move_to_end(tool)
        return lane

    def down(self) -> int:
        """How many tools do not respond, or are where the Leader does not connect to."""
        return sum(lane.is_down or bool(lane.refusal) for lane in self._lanes.values())

    def open_breakers(self) -> int:
        """How many tools are left alone now."""
        lanes = self._lanes.values()
        return sum(lane.breaker.state is BreakerState.OPEN for lane in lanes)

    def _breaker(self) -> CircuitBreaker:
        config = self._config
        return CircuitBreaker(config.breaker_failures, config.breaker_pause_ms / 1000, self._now)
