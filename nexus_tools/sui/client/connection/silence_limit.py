"""The time limit for the next frame of a stream, with one timer for all frames."""

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable
from math import inf


class SilenceLimit:
    """A limit that calls `cancel` if a frame does not arrive in time.

    `asyncio.timeout` creates a timer for each frame, which costs as much as reading a small frame.
    This class keeps one timer. When the timer fires, it is set again unless the current frame is
    late. All times are from the event loop's clock.
    """

    def __init__(self, cancel: Callable[[], object]) -> None:
        self._cancel = cancel
        self._ends_at = inf
        self._timer: TimerHandle | None = None
        self.is_exceeded = False

    def start(self, ends_at: float) -> None:
        """Start to wait for a frame, which has to arrive before `ends_at`."""
        self._ends_at = ends_at
        if self._timer is not None and self._timer.when() > ends_at:
            self.close()
        if self._timer is None:
            self._timer = get_running_loop().call_at(ends_at, self._check)

    def stop(self) -> None:
        """Stop to wait. The caller may process the frame for any time."""
        self._ends_at = inf

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        if self._ends_at == inf:
            return
        if get_running_loop().time() < self._ends_at:
            self.start(self._ends_at)
            return
        self.is_exceeded = True
        self._cancel()
