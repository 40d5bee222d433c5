"""The stall timeout of a node: how long it has been silent, and when callers give up."""

from asyncio import get_running_loop
from math import inf

from msgspec import Struct

_UNHEARD = ("UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED")
"""Statuses that gRPC may generate itself. All others come from the node."""


class StallTimeout(Struct):
    """The time since which one node has not responded. Times are those of the event loop.

    With a `bearable_s` of 10 s, a call that is sent at 0 and gets no response ends at 10. Calls
    that were sent meanwhile also end at 10 if nothing arrived since 0. A call that is sent at 11
    ends at once.
    """

    limit_s: float
    _began_at: float | None = None
    _heard_at: float = -inf

    def record_response(self) -> None:
        """Record that the node responded. Later calls get the full time limit."""
        self._heard_at = get_running_loop().time()
        self._began_at = None

    def record_failure(self, asked_at: float, status: str = "DEADLINE_EXCEEDED") -> None:
        """Record a call that ended with a gRPC status. A status from the node is a response."""
        if status not in _UNHEARD:
            self.record_response()
        elif self._began_at is None and self._heard_at < asked_at:
            self._began_at = asked_at

    def bound(self, ends_at: float) -> float:
        """Return the time at which a call gives up that would otherwise do so at `ends_at`."""
        return ends_at if self._began_at is None else min(ends_at, self._began_at + self.limit_s)

    @property
    def is_exceeded(self) -> bool:
        """Whether the node has been silent too long to wait for it."""
        return self.bound(inf) <= get_running_loop().time()
