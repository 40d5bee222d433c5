"""A local estimate of the chain's clock. The estimate determines when windows open and close."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import duration

_log = get_logger("nexus_tools.leader")

# The clock tolerates a node that lags permanently by the first value. It tolerates a single reading
# with a lag of up to the second value, for example before the first checkpoint after a restart.
_LAG_MS = 1_000
_MAX_LAG_MS = 10_000
_AHEAD_MESSAGE = "this Leader's clock was {} ahead of the chain's clock and was reset"


class ChainClock:
    """A clock that continues from the latest known time of the chain.

    Events may be old, so their times only move this clock forward. A reading of the chain's clock
    can also move this clock back, because a localnet can be rolled back. If this clock moves far
    back, it calls `note_set_back`. `wait_until` returns only while `run` runs in another task.
    """

    def __init__(
        self,
        read_ms: Callable[[], Awaitable[int]],
        interval_ms: int,
        note_set_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._read_ms = read_ms
        self._interval = interval_ms / 1000
        self._note_set_back = note_set_back
        self._base_ms = 0
        self._base_at = 0.0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()
        self._changed = asyncio.Event()
        self._is_behind = False
        self.trouble = ""

    def now_ms(self) -> int:
        """Return the estimated time of the chain, in ms."""
        return self._base_ms + int((_now() - self._base_at) * 1000)

    def observe(self, timestamp_ms: int) -> None:
        """Move the clock forward to a time that the chain has reached."""
        if timestamp_ms > self.now_ms():
            self._set_time(timestamp_ms)

    async def refresh(self) -> None:
        """Read the chain's clock and adjust this clock. Raises the errors of `read_ms`."""
        asked_at_ms = self.now_ms()
        read_ms = await self._read_ms()
        if not self._base_ms:
            self._set_time(read_ms)
            return
        self.observe(read_ms)
        # The response may have taken long, so compare the reading with the time of the request.
        lead_ms = asked_at_ms - read_ms
        was_behind, self._is_behind = self._is_behind, lead_ms > _LAG_MS
        if self._is_behind and (was_behind or lead_ms > _MAX_LAG_MS):
            self._set_time(read_ms)
        self.trouble = ""
        if lead_ms > _MAX_LAG_MS:
            self.trouble = _AHEAD_MESSAGE.format(duration(lead_ms))
            self._note_set_back()

    def _set_time(self, timestamp_ms: int) -> None:
        self._base_ms, self._base_at = timestamp_ms, _now()
        self._changed.set()

    async def wait_until(self, moment_ms: int) -> None:
        """Wait until this clock reaches `moment_ms`. `run` must run in another task."""
        if self.now_ms() >= moment_ms:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (moment_ms, next(self._order), future))
        self._changed.set()
        await future

    async def run(self) -> None:
        """Wake each task at its time, and read the chain's clock while any task waits.

        The clock is read because a rollback may have set the chain's clock back.
        """
        while True:
            self._changed.clear()
            self._wake()
            try:
                async with asyncio.timeout(self._pause()):
                    await self._changed.wait()
            except TimeoutError:
                await self.look()

    async def look(self) -> None:
        """Read the chain's clock. If the node is unreachable, do nothing."""
        try:
            await self.refresh()
        except UnreachableError:
            pass  # the heartbeat reports an unreachable node
        except NexusError as error:
            _log.warning("clock_read_failed", code=error.code, error=error.message)

    def _wake(self) -> None:
        now_ms = self.now_ms()
        while self._waiting:
            moment_ms, _, future = self._waiting[0]
            # Remove a cancelled future when it reaches the front of the queue.
            if moment_ms > now_ms and not future.done():
                return
            heapq.heappop(self._waiting)
            if not future.done():
                future.set_result(None)

    def _pause(self) -> float | None:
        """Return the seconds until the next action, or None if no task waits."""
        if not self._waiting:
            return None
        due = (self._waiting[0][0] - self.now_ms()) / 1000
        return max(0.001, min(self._interval, due))


def _now() -> float:
    return asyncio.get_running_loop().time()
