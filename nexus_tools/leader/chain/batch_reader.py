"""A reader that combines the reads of many tasks into few requests."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BatchReader(Generic[K, V]):
    """A reader that reads the first key immediately, and queues keys while reads are in flight.

    `read` receives up to `batch_size` keys and returns their values in the same order. At most
    `parallel` reads are in flight.
    """

    def __init__(
        self,
        read: Callable[[Sequence[K]], Awaitable[Sequence[V]]],
        *,
        batch_size: int = 50,
        parallel: int = 2,
    ) -> None:
        self._read = read
        self._batch_size = batch_size
        self._idle = parallel
        self._pending: dict[K, list[asyncio.Future[V]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def get(self, key: K) -> "asyncio.Future[V]":
        """Return a future of the value of `key`. The read starts after this call.

        The future raises the exceptions of `read`. Each caller has its own future and may cancel
        it.
        """
        future: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._pending.setdefault(key, []).append(future)
        self._start()
        return future

    def _start(self) -> None:
        if self._idle and self._pending:
            self._idle -= 1
            task = asyncio.create_task(self._read_batches())
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _read_batches(self) -> None:
        try:
            while self._pending:
                await asyncio.sleep(0)  # other tasks can add their keys now
                if self._pending:
                    await self._read_batch()
        finally:
            self._idle += 1

    async def _read_batch(self) -> None:
        batch = dict(list(self._pending.items())[: self._batch_size])
        for key in batch:
            del self._pending[key]
        try:
            values = await self._read(list(batch))
        except asyncio.CancelledError:
            for future in chain(*batch.values()):
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - each caller gets it
            for future in _not_done(chain(*batch.values())):
                future.set_exception(error)
                future.exception()  # no asyncio warning if the caller was cancelled
            return
        for futures, value in zip(batch.values(), values, strict=True):
            for future in _not_done(futures):
                future.set_result(value)


def _not_done(futures: "Iterable[asyncio.Future[V]]") -> "Iterator[asyncio.Future[V]]":
    """Return the futures that are neither resolved nor cancelled."""
    return (future for future in futures if not future.done())
