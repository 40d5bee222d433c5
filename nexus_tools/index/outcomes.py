"""The outcomes of closed invocations as the index counts them, and the buckets of latencies."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from nexus_tools.tool import FailureReason

SETTLED = "settled"
MISSED = "missed"
"""The outcome for a leader that was named but did not close the invocation in time."""
OTHER = "other"
"""A reason that this version does not know."""

OUTCOMES = (
    SETTLED,
    "tool_not_registered",
    "definition_mismatch",
    "input_invalid",
    "unreachable",
    "timed_out",
    "http_error",
    "output_invalid",
    "output_too_large",
    "unauthorized",
    "refused",
    "overloaded",
    "aborted",
    "expired",
    MISSED,
    OTHER,
)
"""The outcomes. An event row stores the position in this tuple, so a change needs a new format."""

CODES: Mapping[str, int] = {outcome: code for code, outcome in enumerate(OUTCOMES)}

TOOL_FAULTS = frozenset(
    {
        FailureReason.DEFINITION_MISMATCH,
        FailureReason.UNREACHABLE,
        FailureReason.TIMED_OUT,
        FailureReason.HTTP_ERROR,
        FailureReason.OUTPUT_INVALID,
        FailureReason.UNAUTHORIZED,
        FailureReason.ABORTED,
    }
)
"""The failures that count against a tool.

`output_too_large` is not one of them, because the requester chooses the maximum size.
"""

LEADER_FAULTS = frozenset({FailureReason.REFUSED, FailureReason.OVERLOADED})
"""The failures that count against a leader.

`missed` is not one of them, because anyone can request invocations that a leader cannot close.
"""


def code_of(reason: str) -> int:
    """Return the code of a failure reason on chain."""
    return CODES.get(reason, CODES[OTHER])


def verdict(outcome: str, faults: frozenset[str]) -> bool | None:
    """Return whether an outcome counts for (True) or against (False) a tool or leader, or None."""
    if outcome == SETTLED:
        return True
    return False if outcome in faults else None


# --- Latencies
#
# Each bucket is √2 times as wide as the previous one: up to 16 ms, 22 ms, 32 ms, … 12 minutes. A
# percentile from these buckets is at most 19 % off.

BUCKETS = 33
_FIRST_MS = 16
_RATIO: float = 2**0.5
BOUNDS_MS = tuple(round(_FIRST_MS * _RATIO**bucket) for bucket in range(BUCKETS - 1))
"""The upper bounds of all buckets but the last one, in ms."""


def bucket_of(latency_ms: int) -> int:
    """Return the bucket of a latency."""
    return bisect_left(BOUNDS_MS, latency_ms)


def percentile_ms(counts: Sequence[int], share: float) -> int | None:
    """Return the latency that `share` of the counted invocations do not exceed, or None.

    The result is the geometric middle of a bucket.
    """
    remaining = share * sum(counts)
    if not remaining:
        return None
    for bucket, count in enumerate(counts):
        remaining -= count
        if count and remaining <= 0:
            return int(_FIRST_MS * 2 ** (bucket / 2 - 0.25) + 0.5)
    return BOUNDS_MS[-1]
