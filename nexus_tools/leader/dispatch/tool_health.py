"""The health of each tool: whether it responds, is paused, or has a refused URL."""

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
    """The state of a circuit breaker.

    A closed breaker allows all calls, an open breaker rejects all calls, and a half-open breaker
    allows one trial call.
    """

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """A circuit breaker that pauses a tool's calls after `failures` calls without a response.

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
        """The current state of the circuit breaker."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        if self._now() < self._opened_at + self._pause:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    def admit(self) -> float:
        """Return 0 if a call may start, else the time to wait in seconds.

        If the result is 0, the caller must record the result of the call.
        """
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
        """Wait for at most `seconds` until the tool responds to another call."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def record_success(self) -> None:
        """Record that the tool responded with any status."""
        self._failures = 0
        self._opened_at = None
        self._trying = False
        self._closed.set()

    def record_failure(self) -> None:
        """Record that the tool did not respond."""
        self._failures += 1
        if self._trying or self._failures >= self._threshold:
            # A failed trial call starts another pause.
            self._opened_at = self._now()
            self._closed.clear()
        self._trying = False

    def release_probe(self) -> None:
        """Allow another trial call if the last one ended without a recorded result."""
        self._trying = False


_CAPACITY = 4_096


@dataclass(slots=True)
class ToolHealth:
    """The health of one tool, which all its calls share. Each change is logged once."""

    fqn: str
    breaker: CircuitBreaker
    is_down: bool = False
    refusal: str = ""

    def record_success(self) -> None:
        """Record that the tool responded with any status, also with an error."""
        self.breaker.record_success()
        if self.is_down or self.refusal:
            _log.info("tool_up", fqn=self.fqn)
        self.is_down, self.refusal = False, ""

    def record_unreachable(self, why: str, refusal: str = "") -> None:
        """Record that the tool did not respond, or that its resolved address was refused."""
        self.breaker.record_failure()
        if refusal:
            self.record_refusal(refusal)
        elif not self.is_down and self.breaker.state is BreakerState.OPEN:
            self.is_down = True
            _log.warning("tool_down", fqn=self.fqn, why=why)

    def record_refusal(self, why: str) -> None:
        """Record that the Leader refuses to connect to the tool's address."""
        if why != self.refusal:
            _log.warning("address_refused", fqn=self.fqn, why=why)
        self.refusal = why


class ToolHealthRegistry:
    """The health of the tools that were called most recently."""

    def __init__(self, config: LeaderConfig, now: Callable[[], float]) -> None:
        self._config = config
        self._now = now
        self._tools: OrderedDict[Address, ToolHealth] = OrderedDict()

    def of(self, tool: Address, fqn: str) -> ToolHealth:
        """Return the health of `tool`."""
        health = self._tools.get(tool)
        if health is None:
            health = self._tools[tool] = ToolHealth(fqn, self._breaker())
            if len(self._tools) > _CAPACITY:
                self._tools.popitem(last=False)
        self._tools.move_to_end(tool)
        return health

    def tools_down(self) -> int:
        """Return the number of tools that do not respond or whose address is refused."""
        return sum(health.is_down or bool(health.refusal) for health in self._tools.values())

    def _breaker(self) -> CircuitBreaker:
        config = self._config
        return CircuitBreaker(config.breaker_failures, config.breaker_open_ms / 1000, self._now)
