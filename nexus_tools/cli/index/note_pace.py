"""The pace of messages about long work on the index."""

from collections.abc import Callable
from time import monotonic

SECONDS_BETWEEN_NOTES = 5.0


class NotePace:
    """The time of the last message. The first message is due one interval after the start."""

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._noted_at = clock_s()

    def is_due(self, interval_s: float = SECONDS_BETWEEN_NOTES) -> bool:
        """Return whether a message is due. If it is, the next interval starts."""
        now_s = self._clock_s()
        if now_s - self._noted_at < interval_s:
            return False
        self._noted_at = now_s
        return True
