"""The chain's clock, seen from here: windows open and end by it, not by this machine's."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import duration

_log = get_logger("nexus_tools.leader")

# A node may lag behind by so much for good, and by so much until its next checkpoint, for example
# after a restart.
_LAG_MS = 1_000
_MOST_LAG_MS = 10_000
_AHEAD = "this Leader's clock was {} ahead of the chain's: it is set back"


class ChainClock:
    """Runs on from the latest time that the chain was seen to have.

    Events, which may be old, only move it forward. A reading of the chain's clock moves it back,
    too, because a localnet can be set back; if it moves far, `note_set_back` is called.
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
        self._seen_ms = 0
        self._seen_at = 0.0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()
        self._changed = asyncio.Event()
        self._is_behind = False
        self.trouble = ""

    def now_ms(self) -> int:
        """The chain's time, as far as it can be known here."""
        return self._seen_ms + int((_now() - self._seen_at) * 1000)

    def observe(self, timestamp_ms: int) -> None:
        """The chain has reached this time."""
        if timestamp_ms > self.now_ms():
            self._move(timestamp_ms)

    async def refresh(self) -> None:
        """Read the clock, and follow it. Raises as a read of the chain does."""
        asked_at_ms = self.now_ms()
        read_ms = await self._read_ms()
        if not self._seen_ms:
            self._move(read_ms)
            return
        self.observe(read_ms)
        # The answer may have taken long: it is compared with the time of the question.
        lead_ms = asked_at_ms - read_ms
        was_behind, self._is_behind = self._is_behind, lead_ms > _LAG_MS
        if self._is_behind and (was_behind or lead_ms > _MOST_LAG_MS):
            self._move(read_ms)
        self.trouble = ""
        if lead_ms > _MOST_LAG_MS:
            self.trouble = _AHEAD.format(duration(lead_ms))
            self._note_set_back()

    def _move(self, timestamp_ms: int) -> None:
        self._seen_ms, self._seen_at = timestamp_ms, _now()
        self._changed.set()

    async def wait_until(self, moment_ms: int) -> None:
        """Return when the chain's clock has reached `moment_ms`; needs `run` beside it."""
        if self.now_ms() >= moment_ms:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (moment_ms, next(self._order), future))
        self._changed.set()
        await future

    async def run(self) -> None:
        """Wake who waits; while someone waits, read the clock, for it may have been moved."""
        while True:
            self._changed.clear()
            self._wake()
            try:
                async with asyncio.timeout(self._pause()):
                    await self._changed.wait()
            except TimeoutError:
                await self.look()

    async def look(self) -> None:
        """Read the clock if the node is there."""
        try:
            await self.refresh()
        except UnreachableError:
            pass  # the heartbeat tells of it
        except NexusError as error:
            _log.warning("clock_unread", code=error.code, error=error.message)

    def _wake(self) -> None:
        now_ms = self.now_ms()
        while self._waiting:
            moment_ms, _, future = self._waiting[0]
            # Whoever gave up waiting is taken out, too, when it comes to the front.
            if moment_ms > now_ms and not future.done():
                return
            heapq.heappop(self._waiting)
            if not future.done():
                future.set_result(None)

    def _pause(self) -> float | None:
        """Seconds until there is something to do; none without anyone who waits."""
        if not self._waiting:
            return None
        due = (self._waiting[0][0] - self.now_ms()) / 1000
        return max(0.001, min(self._interval, due))


def _now() -> float:
    return asyncio.get_running_loop().time()
