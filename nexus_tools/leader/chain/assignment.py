"""Assignments: which invocations a leader is responsible for, and when it may close them."""

from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.sui.types.address import Address

# The largest integer of SQLite. The chain's settings allow windows of any length.
_LATEST_MS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """An invocation for which this leader is responsible. All times are from the chain's clock.

    `place` is 0 for the leader that the invocation names first, and 1 for the backup. This leader
    may close the invocation from `opens_at_ms` on. The next leader may close it only from
    `window_ends_at_ms` on. From `expires_at_ms` on, no leader may close it. This leader may record
    a failure only in its own window.
    """

    invocation: Address
    tool: Address
    fqn: str
    place: int
    opens_at_ms: int
    window_ends_at_ms: int
    expires_at_ms: int
    timeout_ms: int
    max_outcome_bytes: int

    @property
    def is_last(self) -> bool:
        """Whether this leader has the last time window of the invocation."""
        return self.window_ends_at_ms >= self.expires_at_ms

    def is_shared_at(self, now_ms: int) -> bool:
        """Return whether another leader may also have closed the invocation."""
        return self.place > 0 or now_ms >= self.window_ends_at_ms

    def is_left_at(self, now_ms: int) -> bool:
        """Return whether the next leader's window has started, so that failures are rejected."""
        return not self.is_last and now_ms >= self.window_ends_at_ms

    def outcome_by_ms(self, now_ms: int, margin_ms: int) -> int:
        """Return the time until which this leader should wait for an outcome, in ms.

        The result is `margin_ms` before this leader's window ends. If that time has passed, the
        result is `margin_ms` before the invocation expires. For example, assume that the window
        ends at 30 000 ms, the invocation expires at 60 000 ms, and the margin is 2 000 ms. The
        result at 10 000 ms is 28 000 ms, and the result at 29 000 ms is 58 000 ms.
        """
        own_ms = self.window_ends_at_ms - margin_ms
        return own_ms if now_ms < own_ms else self.expires_at_ms - margin_ms


def assignment(event: InvocationRequested, leader: Address) -> Assignment | None:
    """Return the assignment of an invocation to `leader`, or None if it does not name `leader`.

    The Move function `invocation::authorize` applies the same rules on chain. The result is also
    None for an invocation that anyone may settle. This kind of invocation may stay open for days,
    so the task of its execution settles it.

    The time until the invocation expires is divided among the leaders. For example, an invocation
    is requested at 0 ms, expires at 60 000 ms, and names two leaders. The first leader's window is
    0 to 30 000 ms, and the backup leader's window is 30 000 to 60 000 ms.
    """
    if leader not in event.leaders or event.is_closable_by_anyone:
        return None
    place = event.leaders.index(leader)
    expires_at_ms = min(event.expires_at_ms, _LATEST_MS)
    window_ms = (expires_at_ms - event.requested_at_ms) // len(event.leaders)
    opens_at_ms = event.requested_at_ms + place * window_ms
    return Assignment(
        invocation=event.invocation,
        tool=event.tool,
        fqn=event.fqn,
        place=place,
        opens_at_ms=opens_at_ms,
        window_ends_at_ms=opens_at_ms + window_ms,
        expires_at_ms=expires_at_ms,
        timeout_ms=event.timeout_ms,
        max_outcome_bytes=event.max_outcome_bytes,
    )
