"""Since when a node says nothing, and when that is too long for somebody who waits."""

from asyncio import get_running_loop
from math import inf

from msgspec import Struct

_UNHEARD = ("UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED")
"""What gRPC may say by itself: all else was said by the node."""


class Silence(Struct):
    """The time since which one node was asked in vain, if it is; times are those of the loop.

    With 10 s to bear, a call that is sent at 0 and has no response ends at 10. So do those that
    were sent meanwhile, if nothing came since 0, and another one that is sent at 11 ends at once.
    """

    bearable_s: float
    _began_at: float | None = None
    _heard_at: float = -inf

    def hear(self) -> None:
        """The node said something: whoever asks from now on may wait as long as anybody."""
        self._heard_at = get_running_loop().time()
        self._began_at = None

    def fail(self, asked_at: float, status: str = "DEADLINE_EXCEEDED") -> None:
        """What was asked ended with a status of gRPC; it says something if the node gave it."""
        if status not in _UNHEARD:
            self.hear()
        elif self._began_at is None and self._heard_at < asked_at:
            self._began_at = asked_at

    def bound(self, ends_at: float) -> float:
        """When a call gives up that would do so at `ends_at` by itself."""
        return ends_at if self._began_at is None else min(ends_at, self._began_at + self.bearable_s)

    @property
    def is_over_long(self) -> bool:
        """Whether nobody is to wait any more."""
        return self.bound(inf) <= get_running_loop().time()
