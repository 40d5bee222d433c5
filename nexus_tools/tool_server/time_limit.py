"""A time limit for many tasks that uses one timer instead of one per task.

For many tools, setting a timer would take longer than the invocation itself. All tasks have the
same limit, so the task that started first expires first.

Worked example with a limit of 10 s: task A starts at 0 s and sets the timer to 10 s. Task B starts
at 3 s, when the timer is already set. A ends at 4 s and does not change the timer. The timer fires
at 10 s. The oldest task is now B, which expires at 13 s, so the timer is set to 13 s. In total, two
timers were set, and none was cancelled.
"""

import asyncio
from asyncio import AbstractEventLoop
from types import TracebackType
from typing import Any, Self

# The resolution of event loop timers. A timer may fire earlier by this amount.
_EARLY_S = 0.001


class TimeLimit:
    """A limit that cancels tasks that run for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: _Running | None = None

    def start(self) -> "TaskDeadline":
        """Return a context manager that limits the running task, starting now.

        When the time limit expires, the context manager cancels the task and raises `TimeoutError`,
        as `asyncio.timeout` does.
        """
        task = asyncio.current_task()
        assert task is not None, "only tasks have a time limit"
        loop = task.get_loop()
        running = self._running
        if running is None or running.loop is not loop:
            running = self._running = _Running(loop)
        return TaskDeadline(running, task, loop.time() + self._seconds)


class TaskDeadline:
    """The deadline of one task, as a context manager."""

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
            # The timer stays set. When it fires, it is set again if newer tasks run.
            del self._running.members[self]
            return
        # If other code has also cancelled the task, the other cancellation must be raised.
        only_by_us = self._task.uncancel() <= self._cancelling
        if only_by_us and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the task because its time is over."""
        self.is_expired = True
        self._task.cancel()


class _Running:
    """The running tasks of one event loop, oldest first, with a timer for the oldest task."""

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
