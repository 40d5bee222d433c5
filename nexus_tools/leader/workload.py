"""The open invocations of a Leader, with one task for each invocation until it is closed."""

import asyncio
from collections.abc import Iterable, Mapping

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.dispatcher import Dispatcher
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.journal.journal import Entry, Stage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")


class Workload:
    """The tasks of open invocations, of which at most `capacity` run concurrently."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        dispatcher: Dispatcher,
        queue: ClosingQueue,
        *,
        closed: ClosureLog,
        metrics: LeaderMetrics,
        capacity: int,
    ) -> None:
        self._group = group
        self._dispatcher = dispatcher
        self._queue = queue
        self._closed = closed
        self._metrics = metrics
        self._slots = asyncio.Semaphore(capacity)
        self._tasks: dict[Address, tuple[asyncio.Task[None], Assignment]] = {}

    async def resume(self, entries: Iterable[Entry]) -> None:
        """Continue with the open invocations of the journal."""
        for entry in entries:
            await self._start(entry)

    async def start(self, assignments: Iterable[Assignment]) -> None:
        """Start the tasks of new invocations. Wait while `capacity` tasks run."""
        for assignment in assignments:
            await self._start(Entry(assignment, Stage.ASSIGNED, None))

    def is_tracked(self, invocation: bytes) -> bool:
        """Return whether an invocation has a task."""
        return invocation in self._tasks

    def drop(self, closed: Mapping[Address, ClosureKind]) -> None:
        """Drop invocations that the chain reports as closed.

        An invocation is not dropped while a transaction with its closing is in flight, because its
        task gets the result from that transaction.
        """
        for invocation, kind in closed.items():
            if invocation not in self._tasks or self._queue.withdraw(invocation, kind):
                continue
            task, assignment = self._tasks[invocation]
            if not self._queue.is_under_way(invocation) and task.cancel():
                self._closed.add(assignment, Closure(kind))

    async def drain(self, now_ms: int, seconds: float) -> None:
        """Wait up to `seconds` for running tasks, and leave the others to the next start.

        A task whose window opens after `now_ms` (chain time) is cancelled immediately.
        """
        waiting = [
            task for task, assignment in self._tasks.values() if assignment.opens_at_ms > now_ms
        ]
        for task in waiting:
            task.cancel()
        running = [task for task, _ in self._tasks.values()]
        if running:
            _, unfinished = await asyncio.wait(running, timeout=seconds)
            for task in unfinished:
                task.cancel()
            if unfinished:
                _log.warning("stopped_with_open_invocations", open=len(unfinished))

    async def _start(self, entry: Entry) -> None:
        invocation = entry.assignment.invocation
        if invocation in self._tasks:
            task, current = self._tasks[invocation]
            if current == entry.assignment:
                return
            # An ID occurs again with another time only on a chain that was rolled back.
            task.cancel()
            await asyncio.wait({task})
        await self._slots.acquire()
        self._metrics.open.inc()
        task = self._group.create_task(self._dispatch(entry))
        self._tasks[invocation] = task, entry.assignment
        task.add_done_callback(lambda _: self._done(invocation))

    def _done(self, invocation: Address) -> None:
        del self._tasks[invocation]
        self._slots.release()
        self._metrics.open.dec()

    async def _dispatch(self, entry: Entry) -> None:
        self._closed.add(entry.assignment, await self._dispatcher.dispatch(entry))
