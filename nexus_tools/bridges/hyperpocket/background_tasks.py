"""Work that goes on beside something, and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges")


class Background:
    """Tasks of one time; a task that breaks is logged, and touches neither others nor that time."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have work done; it may be cancelled."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Background"]:
        """The time in which tasks are started; those that have not ended by then are cancelled."""
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
            _log.error("background_work_broke", cause=type(task.exception()).__name__)
