"""The open invocations of a Leader, with one task for each invocation until it is closed."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.dispatcher import Dispatcher
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.journal.invocation_rows import Entry, Stage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")


class Workload:
    """The tasks of open invocations, of which at most `capacity` run concurrently.

    `without_outcome` contains the number of tasks of each tool that have no outcome yet. `on_end`
    is called with the tool of a task that has ended or has its outcome.
    """

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
        self._capacity = capacity
        self._slots = asyncio.Semaphore(capacity)
        self._tasks: dict[Address, tuple[asyncio.Task[None], Assignment]] = {}
        self._are_without_outcome: set[Address] = set()
        self.without_outcome: Counter[Address] = Counter()
        self.on_end: Callable[[Address], None] = lambda _: None
        dispatcher.on_outcome = self._has_outcome

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

    @property
    def tracked(self) -> set[Address]:
        """The invocations that have a task."""
        return set(self._tasks)

    @property
    def free_capacity(self) -> int:
        """The number of tasks that can start without a wait."""
        return self._capacity - len(self._tasks)

    def abandon(self, invocations: Iterable[Address]) -> None:
        """End the tasks of invocations that this process does not own.

        A task whose closing is in flight continues, because the transaction decides.
        """
        for invocation in invocations:
            if invocation in self._tasks and not self._queue.is_under_way(invocation):
                self._queue.discard(invocation)
                self._tasks[invocation][0].cancel()

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

    def count_closed(self, assignment: Assignment, kind: ClosureKind) -> None:
        """Count and log an invocation that was closed before any process started its task."""
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
        if entry.outcome is None:
            self._are_without_outcome.add(invocation)
            self.without_outcome[entry.assignment.tool] += 1
        task.add_done_callback(lambda _: self._done(entry.assignment))

    def _done(self, assignment: Assignment) -> None:
        del self._tasks[assignment.invocation]
        self._slots.release()
        self._metrics.open.dec()
        self._has_outcome(assignment)

    def _has_outcome(self, assignment: Assignment) -> None:
        if assignment.invocation in self._are_without_outcome:
            self._are_without_outcome.remove(assignment.invocation)
            self.without_outcome[assignment.tool] -= 1
            if not self.without_outcome[assignment.tool]:
                del self.without_outcome[assignment.tool]
        self.on_end(assignment.tool)

    async def _dispatch(self, entry: Entry) -> None:
        closure = await self._dispatcher.dispatch(entry)
        if closure is not None:
            self._closed.add(entry.assignment, closure)
