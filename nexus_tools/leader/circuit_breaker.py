"""Leaves a tool alone for a while after it could not be reached several times in a row."""

from collections.abc import Callable
from enum import Enum


class BreakerState(Enum):
    """Closed lets requests through, open none, half-open one to try."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Counts failures to reach one tool; `now` is a monotonic clock in seconds."""

    def __init__(self, failures: int, pause_seconds: float, now: Callable[[], float]) -> None:
        self._threshold = failures
        self._pause = pause_seconds
        self._now = now
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False

    @property
    def state(self) -> BreakerState:
        """Where it stands now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        if self._now() < self._opened_at + self._pause:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    def admit(self) -> float:
        """0 if a request may go now, which is then reported; else the seconds to wait."""
        if self._opened_at is None:
            return 0.0
        left = self._opened_at + self._pause - self._now()
        if left > 0:
            return left
        if self._trying:
            return self._pause
        self._trying = True
        return 0.0

    def reached(self) -> None:
        """The tool answered, whatever it said."""
        self._failures = 0
        self._opened_at = None
        self._trying = False

    def missed(self) -> None:
        """The tool did not answer."""
        self._failures += 1
        if self._trying or self._failures >= self._threshold:
            self._opened_at = self._now()
        self._trying = False

    def gave_up(self) -> None:
        """The request ended without saying anything about the tool."""
        self._trying = False
