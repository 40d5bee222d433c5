"""A time limit for many tasks at once, which costs one timer and not one for each.

A timer for each invocation would take longer than many tools do. All have the same time, so that
the one that began first is the first whose time is over.

Worked example, with a limit of 10 s: A begins at 0 and sets the timer to 10, B begins at 3 and
finds it set. A is done at 4 and leaves the timer as it is. At 10 it finds B in front, whose time is
over at 13, and is set to that: two timers were set, and none was taken back.
"""

import asyncio
from asyncio import AbstractEventLoop
from types import TracebackType
from typing import Any, Self

# The timers of event loops have this resolution and may be early by it.
_EARLY_S = 0.001


class TimeLimit:
    """Ends what runs for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: _Running | None = None

    def start(self) -> "Limited":
        """A context manager for the running task; its time begins now.

        As `asyncio.timeout` does, it cancels the task and raises `TimeoutError` in its place.
        """
        task = asyncio.current_task()
        assert task is not None, "only tasks have a time limit"
        loop = task.get_loop()
        running = self._running
        if running is None or running.loop is not loop:
            running = self._running = _Running(loop)
        return Limited(running, task, loop.time() + self._seconds)


class Limited:
    """The stay of one task within the limit."""

    __slots__ = ("_cancelling", "_running", "_task", "deadline", "is_expired")

    def __init__(self, running: "_Running", task: asyncio.Task[Any], deadline: float) -> None:
        self._running = running
        self._task = task
        self._cancelling = task.cancelling()
        self.deadline = deadline
        self.is_expired = False

    def __enter__(self) -> Self:
        running = self._running
        running.members[self] = None
        if running.timer is None:
            running.set_timer(self.deadline)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        if not self.is_expired:
            # The timer stays: it finds nothing to do, or is set anew for those that run by then.
            del self._running.members[self]
            return
        # Somebody else may have cancelled the task too, and means it.
        only_by_us = self._task.uncancel() <= self._cancelling
        if only_by_us and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def expire(self) -> None:
        """The time is over."""
        self.is_expired = True
        self._task.cancel()


class _Running:
    """What runs in one event loop, those that began first in front, and their one timer."""

    __slots__ = ("loop", "members", "timer")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.members: dict[Limited, None] = {}
        self.timer: asyncio.TimerHandle | None = None

    def set_timer(self, deadline: float) -> None:
        self.timer = self.loop.call_at(deadline, self._expire)

    def _expire(self) -> None:
        self.timer = None
        now = self.loop.time() + _EARLY_S
        for limited in list(self.members):
            if limited.deadline > now:
                self.set_timer(limited.deadline)
                return
            del self.members[limited]
            limited.expire()
