"""Reads objects for many tasks with few requests: those who ask meanwhile share the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BatchReader(Generic[K, V]):
    """Gathers keys while earlier reads are under way; the first one goes at once.

    `read` takes up to `batch_size` keys and gives their values in the same order.
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
        self._asked: dict[K, list[asyncio.Future[V]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def get(self, key: K) -> "asyncio.Future[V]":
        """The value of `key`, read after this call; raises what `read` raises.

        Each who asks has a future of its own, which may be cancelled.
        """
        future: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(key, []).append(future)
        self._start()
        return future

    def _start(self) -> None:
        if self._idle and self._asked:
            self._idle -= 1
            task = asyncio.create_task(self._work())
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _work(self) -> None:
        try:
            while self._asked:
                await asyncio.sleep(0)  # whoever is ready to ask now is in the same batch
                if self._asked:
                    await self._read_batch()
        finally:
            self._idle += 1

    async def _read_batch(self) -> None:
        batch = dict(list(self._asked.items())[: self._batch_size])
        for key in batch:
            del self._asked[key]
        try:
            values = await self._read(list(batch))
        except asyncio.CancelledError:
            for future in chain(*batch.values()):
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - each who asked gets it
            for future in _waiting(chain(*batch.values())):
                future.set_exception(error)
                future.exception()  # read, even if who asked has gone
            return
        for futures, value in zip(batch.values(), values, strict=True):
            for future in _waiting(futures):
                future.set_result(value)


def _waiting(futures: "Iterable[asyncio.Future[V]]") -> "Iterator[asyncio.Future[V]]":
    """Those whose owners have not given up."""
    return (future for future in futures if not future.done())
