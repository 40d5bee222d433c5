"""A thread that owns the journal's database and commits the writes of many tasks together."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from nexus_tools.errors import NexusError
from nexus_tools.leader.journal.store import Connection, Operation, Store, StoreAwayError

T = TypeVar("T")

_Job = tuple[Operation, "asyncio.Future[Any]"]

_MAX_JOBS = 512
_RETRY_DELAY_S = 0.5
_SLOW_COMMIT_S = 10.0


class GroupCommit:
    """A queue of operations on a database. `run` returns after the operation is committed.

    While the database is not available, all operations wait.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._away_reason = ""
        self._started_s = inf
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closing = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str:
        """The reason why operations wait, or an empty string."""
        seconds = monotonic() - self._started_s
        if not self._away_reason and seconds > _SLOW_COMMIT_S:
            return f"the database has not committed for {seconds:.0f} s"
        return self._away_reason

    async def run(self, operation: Callable[[Connection], T]) -> T:
        """Return the result of `operation` after its commit. Raises `journal_failed`."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put((operation, future))
        return await future

    async def close(self) -> None:
        """Commit the pending operations if the database is available, and close the database."""
        self._closing.set()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        is_running = True
        while is_running:
            batch = self._next_jobs()
            jobs = [job for job in batch if job is not None]
            is_running = len(jobs) == len(batch)
            if jobs:
                self._started_s = monotonic()
                results = self._commit([operation for operation, _ in jobs])
                self._started_s = inf
                self._resolve(jobs, *results)
        self._store.close()

    def _next_jobs(self) -> list[_Job | None]:
        """Wait for a job, and return it with all other queued jobs."""
        batch = [self._jobs.get()]
        while batch[-1] is not None and len(batch) < _MAX_JOBS:
            try:
                batch.append(self._jobs.get_nowait())
            except Empty:
                break
        return batch

    def _commit(self, operations: Sequence[Operation]) -> tuple[list[Any], NexusError | None]:
        """Return the results of the operations, or the error that prevented their commit."""
        while True:
            try:
                results = self._store.commit(operations)
            except NexusError as error:
                return [], error
            except Exception as error:  # noqa: BLE001 - callers get any error
                if isinstance(error, StoreAwayError):
                    self._away_reason = str(error)
                    if not self._closing.wait(_RETRY_DELAY_S):
                        continue
                message = f"cannot write to the journal: {error}"
                return [], NexusError("journal_failed", message, hint=self._store.failure_hint)
            self._away_reason = ""
            return results, None

    def _resolve(self, jobs: Sequence[_Job], results: list[Any], error: NexusError | None) -> None:
        def tell() -> None:
            for place, (_, future) in enumerate(jobs):
                # The future is done if its caller was cancelled.
                if future.done():
                    continue
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(results[place])

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(tell)
