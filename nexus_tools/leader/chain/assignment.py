"""Which invocations are this leader's, and when it may close them."""

from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.sui.types.address import Address

# What the journal can hold; the chain's settings allow windows without end.
_LATEST_MS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """An invocation that this leader is responsible for; times are the chain's.

    `place` is 0 for the leader that is named first and 1 for its backup. From `opens_at_ms` on
    this leader may close it, before `window_ends_at_ms` no later one, and nobody from
    `expires_at_ms` on. With a failure it may do so in its own window alone.
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
        """Whether no leader has a window behind this one's."""
        return self.window_ends_at_ms >= self.expires_at_ms

    def is_shared_at(self, now_ms: int) -> bool:
        """Whether another leader may have closed it too."""
        return self.place > 0 or now_ms >= self.window_ends_at_ms

    def is_left_at(self, now_ms: int) -> bool:
        """Whether only an answer still counts: the window of the next leader has begun."""
        return not self.is_last and now_ms >= self.window_ends_at_ms

    def outcome_by_ms(self, now_ms: int, margin_ms: int) -> int:
        """Until when an outcome is of use: the end of the own window, or later of all windows.

        With a window of 0 to 30 000, another one behind it, and a margin of 2 000: at 10 000 until
        28 000. At 29 000 it is too late for that, and until 58 000.
        """
        own_ms = self.window_ends_at_ms - margin_ms
        return own_ms if now_ms < own_ms else self.expires_at_ms - margin_ms


def assignment(event: InvocationRequested, leader: Address) -> Assignment | None:
    """What a request means for `leader`: Move's `invocation::authorize` seen from here.

    What anyone may settle waits for days: nobody is to carry that; an execution sees to its own.

    The time until it expires is divided among the leaders: of a minute, requested at 0 with two
    leaders, the first has 0 to 30 000 ms, its backup 30 000 to 60 000.
    """
    if leader not in event.leaders or event.is_for_anyone:
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
