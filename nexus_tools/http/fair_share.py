"""Slots that many tools share, so that none waits because others are slow.

A slot cannot be taken back from a call that hangs, so there have to be free ones before they are
asked for. A tool may take another one while four times what it has is less than what is free (the
dynamic thresholds of Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
Switches", 1998): of 4 096 slots one tool alone gets 820 at most, ten that go on asking come to 293
each, and the other 1 166 are there for whoever comes next. It would take more than forty tools that
all hang at once to use them up, and then each slot that is left goes to the tool that has the
fewest: max-min fairness.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

_FREE_FOR_EACH = 4


class FairShare(Generic[Key]):
    """`total` slots, of which nobody has more than `each`."""

    def __init__(self, total: int, each: int) -> None:
        self._free = total
        self._each = each
        self._taken: dict[Key, int] = {}
        self._queues: dict[Key, OrderedDict[asyncio.Future[None], None]] = {}
        # Who waits, by how many slots they have: to find the next one takes no longer however many
        # tools there are.
        self._waiting: list[OrderedDict[Key, None]] = [OrderedDict() for _ in range(each + 1)]

    @asynccontextmanager
    async def slot(self, key: Key) -> AsyncIterator[None]:
        """Have a slot meanwhile."""
        await self.take(key)
        try:
            yield
        finally:
            self.give_back(key)

    def taken(self, key: Key) -> int:
        """How many slots somebody has."""
        return self._taken.get(key, 0)

    async def take(self, key: Key) -> None:
        """Have a slot; those with one key get theirs in the order in which they came."""
        if key not in self._queues and self.taken(key) < self._most():
            self._change(key, 1)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = OrderedDict()
            self._waiting[self.taken(key)][key] = None
        queue[turn] = None
        try:
            await turn
        except asyncio.CancelledError:
            if turn in queue:
                self._leave_queue(key, turn)
            elif not turn.cancelled():
                self.give_back(key)  # its turn had come already
            raise

    def give_back(self, key: Key) -> None:
        """Leave a slot to whoever has the fewest."""
        self._change(key, -1)
        while (following := self._next()) is not None:
            turn = next(iter(self._queues[following]))
            self._leave_queue(following, turn)
            if not turn.cancelled():  # else its task gives up, and has not run yet
                self._change(following, 1)
                turn.set_result(None)

    def _most(self) -> int:
        """How many slots somebody may have once there is one more of theirs."""
        return min(self._each, -(-self._free // _FREE_FOR_EACH))

    def _next(self) -> Key | None:
        """Who has the fewest slots of those that wait and may have another."""
        for waiting in self._waiting[: self._most()]:
            if waiting:
                return next(iter(waiting))
        return None

    def _leave_queue(self, key: Key, turn: "asyncio.Future[None]") -> None:
        queue = self._queues[key]
        del queue[turn]
        if not queue:
            del self._queues[key]
            del self._waiting[self.taken(key)][key]

    def _change(self, key: Key, by: int) -> None:
        before = self.taken(key)
        self._free -= by
        self._taken[key] = before + by
        if key in self._queues:
            del self._waiting[before][key]
            self._waiting[before + by][key] = None  # last: who has as many takes turns
        if not self._taken[key]:
            del self._taken[key]
