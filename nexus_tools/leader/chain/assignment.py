"""Assignments: which invocations a leader is responsible for, and when it may close them."""

from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.sui.types.address import Address

# SQLite's largest integer; the chain's settings allow windows of any length.
_LATEST_MS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """An invocation that this leader is responsible for; all times are those of the chain.

    `place` is 0 for the leader that is named first and 1 for its backup. From `opens_at_ms` on,
    this leader may close the invocation. No later leader may close it before `window_ends_at_ms`,
    and no leader at all from `expires_at_ms` on. This leader may record a failure only in its own
    window.
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
        """Whether no leader has a window after this one's."""
        return self.window_ends_at_ms >= self.expires_at_ms

    def is_shared_at(self, now_ms: int) -> bool:
        """Return whether another leader may also have closed the invocation."""
        return self.place > 0 or now_ms >= self.window_ends_at_ms

    def is_left_at(self, now_ms: int) -> bool:
        """Return whether only an answer counts, because the next leader's window started."""
        return not self.is_last and now_ms >= self.window_ends_at_ms

    def outcome_by_ms(self, now_ms: int, margin_ms: int) -> int:
        """Return the time until which an outcome is useful, in ms.

        This is the end of the own window, or the end of all windows if it is too late for that.
        With a window of 0 to 30 000 ms, another one after it, and a margin of 2 000 ms, the result
        at 10 000 is 28 000. At 29 000 the own window is too short, so the result is 58 000.
        """
        own_ms = self.window_ends_at_ms - margin_ms
        return own_ms if now_ms < own_ms else self.expires_at_ms - margin_ms


def assignment(event: InvocationRequested, leader: Address) -> Assignment | None:
    """Return what a request means for `leader`: Move's `invocation::authorize`, applied off-chain.

    None means that the leader has no part in it. That includes an invocation that anyone may
    settle: it may stay open for days, and its execution takes care of it.

    The time until the invocation expires is divided among the leaders. For a request at 0 that
    expires after one minute and has two leaders, the first leader's window is 0 to 30 000 ms, and
    its backup's is 30 000 to 60 000 ms.
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
