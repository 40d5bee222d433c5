"""Slots that many tools share, so that slow tools do not block others.

A slot cannot be taken back from a call that hangs, so some slots must stay free in advance. A key
may take another slot while four times the number of its slots is less than the number of free
slots. This rule is the dynamic threshold of Choudhury and Hahne, "Dynamic Queue Length Thresholds
for Shared-Memory Packet Switches", 1998. For example, one tool gets at most 820 of 4 096 slots. Ten
tools with unlimited demand get 293 slots each, and the other 1 166 slots stay free for further
tools. To use up all slots, more than forty tools must hang at once. If slots are scarce, a released
slot goes to the tool with the fewest slots (max-min fairness).
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

_FREE_PER_SLOT = 4


class FairShare(Generic[Key]):
    """A set of `total` slots. Each key gets at most `each` slots."""

    def __init__(self, total: int, each: int) -> None:
        self._free = total
        self._max_per_key = each
        self._slot_counts: dict[Key, int] = {}
        self._queues: dict[Key, OrderedDict[asyncio.Future[None], None]] = {}
        # The waiting keys, grouped by their number of slots, so that finding the next key takes
        # constant time.
        self._waiting: list[OrderedDict[Key, None]] = [OrderedDict() for _ in range(each + 1)]

    @asynccontextmanager
    async def slot(self, key: Key) -> AsyncIterator[None]:
        """Hold a slot inside the context."""
        await self.acquire(key)
        try:
            yield
        finally:
            self.release(key)

    def count(self, key: Key) -> int:
        """Return how many slots a key holds."""
        return self._slot_counts.get(key, 0)

    async def acquire(self, key: Key) -> None:
        """Wait for a slot. Requests of one key get slots in their order."""
        if key not in self._queues and self.count(key) < self._max_slots():
            self._change_count(key, 1)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = OrderedDict()
            self._waiting[self.count(key)][key] = None
        queue[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            if turn in queue:
                self._leave_queue(key, turn)
            elif not turn.cancelled():
                self.release(key)  # the cancelled request had already received the slot
            raise

    def release(self, key: Key) -> None:
        """Release a slot, and assign free slots to the waiting keys that hold the fewest slots."""
        self._change_count(key, -1)
        while (following := self._next_key()) is not None:
            turn = next(iter(self._queues[following]))
            self._leave_queue(following, turn)
            if not turn.cancelled():  # a cancelled task may not have run yet
                self._change_count(following, 1)
                turn.set_result(None)

    def _max_slots(self) -> int:
        """Return the number of slots that a key may have after it takes another slot."""
        return min(self._max_per_key, -(-self._free // _FREE_PER_SLOT))

    def _next_key(self) -> Key | None:
        """Return the waiting key with the fewest slots that may take another one."""
        for waiting in self._waiting[: self._max_slots()]:
            if waiting:
                return next(iter(waiting))
        return None

    def _leave_queue(self, key: Key, turn: "asyncio.Future[None]") -> None:
        queue = self._queues[key]
        del queue[turn]
        if not queue:
            del self._queues[key]
            del self._waiting[self.count(key)][key]

    def _change_count(self, key: Key, by: int) -> None:
        before = self.count(key)
        self._free -= by
        self._slot_counts[key] = before + by
        if key in self._queues:
            del self._waiting[before][key]
            self._waiting[before + by][key] = None  # append, so that equal keys alternate
        if not self._slot_counts[key]:
            del self._slot_counts[key]
