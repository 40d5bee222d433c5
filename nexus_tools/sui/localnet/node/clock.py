"""The time of the network: the machine's time plus an offset."""

import time
from collections.abc import Callable

from nexus_tools.sui.bcs import Codec, record, u64, vector
from nexus_tools.sui.errors import ValidationError

ADVANCES: Codec[tuple[tuple[int, int], ...]] = vector(record((u64, u64)))
"""The stored form of the clock advances.

Each pair consists of the first checkpoint that uses an offset, and the offset in ms.
"""

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, which is the latest time that a protobuf `Timestamp` can represent."""

WallClock = Callable[[], int]


def milliseconds() -> int:
    """Return the machine's time, in ms since 1970."""
    return time.time_ns() // 1_000_000


class NetworkClock:
    """A clock that never runs backward, even if the machine's clock does.

    An advance takes effect with a checkpoint, so a revert to an earlier checkpoint also reverts the
    time. `advances` are pairs of a checkpoint and an offset, as in `ADVANCES`. `floor_ms` is the
    time of the latest checkpoint.
    """

    def __init__(
        self, wall_clock: WallClock, advances: tuple[tuple[int, int], ...], floor_ms: int
    ) -> None:
        self._wall_clock = wall_clock
        self.restore(advances, floor_ms)

    def restore(self, advances: tuple[tuple[int, int], ...], floor_ms: int) -> None:
        """Set the clock to the advances and the time of the chain's latest checkpoint."""
        self._advances = advances
        self._last_ms = floor_ms
        # If the machine's clock was set back since the last checkpoint, continue from the chain's
        # time.
        known_ms = advances[-1][1] if advances else 0
        self._offset_ms = max(known_ms, floor_ms - self._wall_clock())

    def now_ms(self) -> int:
        """Return the time, in ms since 1970."""
        self._last_ms = max(self._last_ms, self._wall_clock() + self._offset_ms)
        return self._last_ms

    def advanced(self, milliseconds: int, checkpoint: int) -> tuple[tuple[int, int], ...]:
        """Return the advances plus a new advance that takes effect at this checkpoint.

        Raises:
            ValidationError: `clock_advance_invalid`.
        """
        if not 0 <= milliseconds <= LATEST_MS - self.now_ms():
            raise ValidationError(
                "clock_advance_invalid",
                f"cannot move the clock by {milliseconds} ms",
                hint="Move the clock forward, at most to the end of the year 9999.",
            )
        # Offsets are relative to the machine's clock, not cumulative. For example, with ((3, 500),
        # (7, 800)), the offset from checkpoint 7 on is 800 ms and not 1300 ms.
        return (*self._advances, (checkpoint, self._offset_ms + milliseconds))

    def until(self, checkpoint: int) -> tuple[tuple[int, int], ...]:
        """Return the advances in effect at a checkpoint."""
        return tuple(advance for advance in self._advances if advance[0] <= checkpoint)
