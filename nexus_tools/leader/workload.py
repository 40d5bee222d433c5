"""The invocations in hand: one task for each, from its assignment until it is closed."""

import asyncio
from collections.abc import Iterable, Mapping

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closed, End
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.dispatcher import Carrier
from nexus_tools.leader.intake.closure_log import ClosedInvocations
from nexus_tools.leader.journal.journal import Entry, Stage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")


class Workload:
    """Starts, counts and cancels the tasks; at most `capacity` at once."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        carrier: Carrier,
        queue: ClosingQueue,
        *,
        closed: ClosedInvocations,
        metrics: LeaderMetrics,
        capacity: int,
    ) -> None:
        self._group = group
        self._carrier = carrier
        self._queue = queue
        self._closed = closed
        self._metrics = metrics
        self._room = asyncio.Semaphore(capacity)
        self._tasks: dict[Address, tuple[asyncio.Task[None], Assignment]] = {}

    async def resume(self, entries: Iterable[Entry]) -> None:
        """Go on with what the journal has open."""
        for entry in entries:
            await self._start(entry)

    async def take(self, assignments: Iterable[Assignment]) -> None:
        """Begin with new invocations; waits while there is no room."""
        for assignment in assignments:
            await self._start(Entry(assignment, Stage.ASSIGNED, None))

    def drop(self, closed: Mapping[Address, Closed]) -> None:
        """Drop what the chain says is closed; what is in a transaction hears from that."""
        for invocation, how in closed.items():
            if invocation not in self._tasks or self._queue.withdraw(invocation, how):
                continue
            task, assignment = self._tasks[invocation]
            if not self._queue.is_under_way(invocation) and task.cancel():
                self._closed.note(assignment, End(how))

    async def drain(self, now_ms: int, seconds: float) -> None:
        """Let what runs come to its end, for so long; the rest is for the next start.

        What waits for its window, by the chain's time `now_ms`, does not run.
        """
        waiting = [task for task, one in self._tasks.values() if one.opens_at_ms > now_ms]
        for task in waiting:
            task.cancel()
        running = [task for task, _ in self._tasks.values()]
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                _log.warning("stopped_with_work", open=len(late))

    async def _start(self, entry: Entry) -> None:
        invocation = entry.assignment.invocation
        if invocation in self._tasks:
            task, known = self._tasks[invocation]
            if known == entry.assignment:
                return
            # Requested at another time on a chain that was set back.
            task.cancel()
            await asyncio.wait({task})
        await self._room.acquire()
        self._metrics.open.inc()
        task = self._group.create_task(self._carry(entry))
        self._tasks[invocation] = task, entry.assignment
        task.add_done_callback(lambda _: self._done(invocation))

    def _done(self, invocation: Address) -> None:
        del self._tasks[invocation]
        self._room.release()
        self._metrics.open.dec()

    async def _carry(self, entry: Entry) -> None:
        self._closed.note(entry.assignment, await self._carrier.carry(entry))
