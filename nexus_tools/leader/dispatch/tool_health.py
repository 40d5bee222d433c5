"""The health of each tool: whether it responds, is paused, or may not be called."""

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
    """The state of a circuit breaker: closed allows calls, open none, half-open one trial."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Pauses the calls of a tool after several consecutive calls got no response.

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
        """The current state."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        if self._now() < self._opened_at + self._pause:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    def admit(self) -> float:
        """Return 0 if a call may start, whose result must be reported, else seconds to wait."""
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
        """Wait until the tool responds to another call, for at most `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def record_success(self) -> None:
        """Record that the tool responded, with any status."""
        self._failures = 0
        self._opened_at = None
        self._trying = False
        self._closed.set()

    def record_failure(self) -> None:
        """Record that the tool did not respond."""
        self._failures += 1
        if self._trying or self._failures >= self._threshold:
            # A failed trial opens the breaker again for another pause.
            self._opened_at = self._now()
            self._closed.clear()
        self._trying = False

    def release_probe(self) -> None:
        """Record that the call ended without a result about the tool."""
        self._trying = False


_CAPACITY = 4_096


@dataclass(slots=True)
class ToolHealth:
    """The shared state of one tool's calls; each change is logged once."""

    fqn: str
    breaker: CircuitBreaker
    is_down: bool = False
    refusal: str = ""

    def record_success(self) -> None:
        """Record that the tool responded, with any status."""
        self.breaker.record_success()
        if self.is_down or self.refusal:
            _log.info("tool_up", fqn=self.fqn)
        self.is_down, self.refusal = False, ""

    def record_unreachable(self, why: str, refusal: str = "") -> None:
        """Record that the tool did not respond, or its address was refused."""
        self.breaker.record_failure()
        if refusal:
            self.record_refusal(refusal)
        elif not self.is_down and self.breaker.state is BreakerState.OPEN:
            self.is_down = True
            _log.warning("tool_down", fqn=self.fqn, why=why)

    def record_refusal(self, why: str) -> None:
        """Record that the Leader does not connect to the tool's address."""
        if why != self.refusal:
            _log.warning("address_refused", fqn=self.fqn, why=why)
        self.refusal = why


class ToolHealthRegistry:
    """The health of the tools that were called most recently."""

    def __init__(self, config: LeaderConfig, now: Callable[[], float]) -> None:
        self._config = config
        self._now = now
        self._lanes: OrderedDict[Address, ToolHealth] = OrderedDict()

    def of(self, tool: Address, fqn: str) -> ToolHealth:
        """Return the health of `tool`."""
        health = self._lanes.get(tool)
        if health is None:
            health = self._lanes[tool] = ToolHealth(fqn, self._breaker())
            if len(self._lanes) > _CAPACITY:
                self._lanes.popitem(last=False)
        self._lanes.move_to_end(tool)
        return health

    def tools_down(self) -> int:
        """Return how many tools do not respond, or have an address that is not allowed."""
        return sum(health.is_down or bool(health.refusal) for health in self._lanes.values())

    def _breaker(self) -> CircuitBreaker:
        config = self._config
        return CircuitBreaker(config.breaker_failures, config.breaker_open_ms / 1000, self._now)
