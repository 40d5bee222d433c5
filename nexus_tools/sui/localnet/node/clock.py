"""The time of the network: that of the machine, and what it was moved ahead."""

import time
from collections.abc import Callable

from nexus_tools.sui.bcs import Codec, record, u64, vector
from nexus_tools.sui.errors import ValidationError

ADVANCES: Codec[tuple[tuple[int, int], ...]] = vector(record((u64, u64)))
"""The durable form of the advances: checkpoint from which each holds, and offset in ms."""

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the latest time that a protobuf `Timestamp` can hold."""

WallClock = Callable[[], int]


def milliseconds() -> int:
    """The time of the machine, in ms since 1970."""
    return time.time_ns() // 1_000_000


class NetworkClock:
    """Never runs backwards, whatever the machine's clock does.

    Moving it ahead takes effect with a checkpoint, so that going back to an earlier checkpoint
    takes the time back too. `advances` are as in `ADVANCES`; `floor_ms` is the latest checkpoint's
    time.
    """

    def __init__(
        self, wall_clock: WallClock, advances: tuple[tuple[int, int], ...], floor_ms: int
    ) -> None:
        self._wall_clock = wall_clock
        self.restore(advances, floor_ms)

    def restore(self, advances: tuple[tuple[int, int], ...], floor_ms: int) -> None:
        """Set the clock to a point of the chain."""
        self._advances = advances
        self._last_ms = floor_ms
        # If the machine's clock was set back meanwhile, go on from where the chain is.
        known_ms = advances[-1][1] if advances else 0
        self._offset_ms = max(known_ms, floor_ms - self._wall_clock())

    def now_ms(self) -> int:
        """The time, in ms since 1970."""
        self._last_ms = max(self._last_ms, self._wall_clock() + self._offset_ms)
        return self._last_ms

    def advanced(self, milliseconds: int, checkpoint: int) -> tuple[tuple[int, int], ...]:
        """The advances with one more, which is to hold from a checkpoint on.

        Raises `clock_advance_invalid`.
        """
        if not 0 <= milliseconds <= LATEST_MS - self.now_ms():
            raise ValidationError(
                "clock_advance_invalid",
                f"the clock cannot be moved by {milliseconds} ms",
                hint="it runs forwards, and no further than the year 9999",
            )
        # Offsets are from the machine's clock, not from each other: of ((3, 500), (7, 800)) the
        # last holds.
        return (*self._advances, (checkpoint, self._offset_ms + milliseconds))

    def until(self, checkpoint: int) -> tuple[tuple[int, int], ...]:
        """The advances that held at a checkpoint."""
        return tuple(each for each in self._advances if each[0] <= checkpoint)
