"""The stall timeout of a node: calls fail if the node has not responded for this time."""

from asyncio import get_running_loop
from math import inf

from msgspec import Struct

_UNHEARD = ("UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED")
"""The gRPC statuses that the client library may generate itself.

Other statuses are from the node.
"""


class StallTimeout(Struct):
    """The stall timeout of one node, in seconds. All times are from the event loop's clock.

    For example, `limit_s` is 10, a call is sent at time 0, and the node does not respond. The call
    fails at time 10. Calls that are sent between 0 and 10 also fail at 10. A call that is sent at
    11 fails immediately.
    """

    limit_s: float
    _began_at: float | None = None
    _heard_at: float = -inf

    def record_response(self) -> None:
        """Record that the node responded. Later calls get the full time limit."""
        self._heard_at = get_running_loop().time()
        self._began_at = None

    def record_failure(self, asked_at: float, status: str = "DEADLINE_EXCEEDED") -> None:
        """Record a call that failed with a gRPC status. A status from the node is a response."""
        if status not in _UNHEARD:
            self.record_response()
        elif self._began_at is None and self._heard_at < asked_at:
            self._began_at = asked_at

    def bound(self, ends_at: float) -> float:
        """Return the time at which a call fails: `ends_at`, or earlier if the node is stalled."""
        return ends_at if self._began_at is None else min(ends_at, self._began_at + self.limit_s)

    @property
    def is_exceeded(self) -> bool:
        """Whether the node has been silent for longer than the limit."""
        return self.bound(inf) <= get_running_loop().time()
