"""The slots of a closer, which limit the batches in progress and the transactions in flight."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ClosingSlots:
    """Slots for `limit` batches. A batch that waits for its signer does not occupy a slot.

    Without the slots, outcomes wait in the queue and share a transaction. `sending` limits the
    transactions in flight, also if several batches receive their signatures at the same time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._busy = 0
        self._freed = asyncio.Event()
        self.sending = asyncio.Semaphore(limit)

    async def acquire(self) -> None:
        """Wait for a free slot and occupy it."""
        while self._busy >= self._limit:
            self._freed.clear()
            await self._freed.wait()
        self._busy += 1

    def release(self) -> None:
        """Free a slot."""
        self._busy -= 1
        self._freed.set()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Free the slot of a batch until the block ends, and then occupy it again at once.

        The batch does not wait for a slot, because it has reserved funds of a worker, and batches
        with slots may wait for these funds.
        """
        self.release()
        try:
            yield
        finally:
            self._busy += 1
