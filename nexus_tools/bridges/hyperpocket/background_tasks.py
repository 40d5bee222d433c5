"""Background tasks that are cancelled when the context that started them ends."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges")


class BackgroundTasks:
    """The tasks of one context.

    If a task fails, the error is logged and the other tasks continue.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task and return it. The caller may cancel the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    @asynccontextmanager
    async def running(self) -> AsyncIterator["BackgroundTasks"]:
        """Open the context in which tasks may start, and cancel unfinished tasks at its end."""
        try:
            yield self
        finally:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("background_task_failed", cause=type(task.exception()).__name__)
