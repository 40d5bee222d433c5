"""A time limit for many tasks that uses one timer instead of one per task.

A timer for each invocation would take longer than many tools run. All tasks have the same limit, so
the one that started first expires first.

Worked example, with a limit of 10 s: A starts at 0 and sets the timer to 10. B starts at 3 and
finds it set. A ends at 4 and leaves the timer as it is. At 10 the timer finds B in front, which
expires at 13, and is set to 13. Two timers were set, and none was cancelled.
"""

import asyncio
from asyncio import AbstractEventLoop
from types import TracebackType
from typing import Any, Self

# The resolution of event loop timers, which may fire early by this much.
_EARLY_S = 0.001


class TimeLimit:
    """A limit that cancels tasks which run for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: _Running | None = None

    def start(self) -> "TaskDeadline":
        """Return a context manager for the running task, whose time starts now.

        Like `asyncio.timeout`, it cancels the task and raises `TimeoutError` instead.
        """
        task = asyncio.current_task()
        assert task is not None, "only tasks have a time limit"
        loop = task.get_loop()
        running = self._running
        if running is None or running.loop is not loop:
            running = self._running = _Running(loop)
        return TaskDeadline(running, task, loop.time() + self._seconds)


class TaskDeadline:
    """The time of one task within the limit."""

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
            # The timer stays set. It finds nothing to do, or is set again for newer tasks.
            del self._running.members[self]
            return
        # Other code may also have cancelled the task, and then the cancellation is real.
        only_by_us = self._task.uncancel() <= self._cancelling
        if only_by_us and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the task because its time is over."""
        self.is_expired = True
        self._task.cancel()


class _Running:
    """The running tasks of one event loop, oldest first, and their one timer."""

    __slots__ = ("loop", "members", "timer")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.members: dict[TaskDeadline, None] = {}
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
