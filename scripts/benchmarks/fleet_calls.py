"""The calls that a tool server received, and their number, overlap and pauses."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path


@dataclass(slots=True)
class Call:
    """A call of a tool. Times are from the monotonic clock, which all processes share.

    `status` is 0 until the server answers. A call that the caller gave up has no status.
    """

    tool: str
    invocation: str
    started_at: float
    ended_at: float | None = None
    status: int = 0

    @property
    def is_repetition(self) -> bool:
        """Whether the server refused the call, because the same invocation was still running."""
        return self.status == HTTPStatus.CONFLICT


def write_calls(path: Path, calls: Sequence[Call]) -> None:
    """Write calls to a file."""
    path.write_text(json.dumps([asdict(call) for call in calls]))


def read_calls(path: Path) -> list[Call]:
    """Read the calls of a file."""
    return [Call(**fields) for fields in json.loads(path.read_text())]


def calls_per_invocation(calls: Sequence[Call]) -> float:
    """Return the number of calls that ran, divided by the number of called invocations."""
    invocations = {call.invocation for call in calls}
    return sum(not call.is_repetition for call in calls) / max(1, len(invocations))


def most_at_once(calls: Sequence[Call]) -> Counter[str]:
    """Return the highest number of simultaneous calls of each tool."""
    changes = [(call.started_at, 1, call.tool) for call in calls]
    changes += [(call.ended_at, -1, call.tool) for call in calls if call.ended_at is not None]
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    # At the same moment, an end sorts before a start.
    for _, change, tool in sorted(changes):
        running[tool] += change
        most[tool] = max(most[tool], running[tool])
    return most


def first_calls(calls: Sequence[Call]) -> dict[str, float]:
    """Return the time of the first call of each invocation."""
    firsts: dict[str, float] = {}
    for call in calls:
        firsts[call.invocation] = min(call.started_at, firsts.get(call.invocation, call.started_at))
    return firsts


def longest_wait(requested: Mapping[str, float], calls: Sequence[Call], until: float) -> float:
    """Return the longest time in seconds from a request to its first call, or to `until`."""
    firsts = first_calls(calls)
    waits = (firsts.get(invocation, until) - at for invocation, at in requested.items())
    return max(waits, default=0.0)


def longest_stall(requested: Mapping[str, float], calls: Sequence[Call], until: float) -> float:
    """Return the longest time in seconds without a new call while a request waited for its first.

    `requested` maps invocations to the times of their requests. For example, assume two requests at
    0 s, calls at 1 s and 4 s, a request at 9 s, and its call at 11 s. The result is 3 s: from 4 s
    to 9 s, no request waited.
    """
    firsts = first_calls(calls)
    arrivals = {
        invocation: min(at, firsts.get(invocation, at)) for invocation, at in requested.items()
    }
    # At the same moment, a request sorts before its call.
    moments = [(at, 0, invocation) for invocation, at in arrivals.items()]
    moments += [(call.started_at, 1, call.invocation) for call in calls]
    waiting: set[str] = set()
    longest, since = 0.0, 0.0
    for at, is_call, invocation in [*sorted(moments), (until, 1, "")]:
        if waiting and is_call:
            longest = max(longest, at - since)
        if is_call or not waiting:
            since = at
        _update(waiting, invocation, is_call=bool(is_call))
    return longest


def _update(waiting: set[str], invocation: str, *, is_call: bool) -> None:
    if is_call:
        waiting.discard(invocation)
    else:
        waiting.add(invocation)
