"""Recent invocations by key, so that a repeated request gets a response and is not run again.

Follows the IETF draft "The Idempotency-Key HTTP Header Field": a request that still runs is a
conflict (409), and one that ran gets the response of the first, whether that was an outcome or a
problem. But the same key with another request is another request, and not the mistake of a client
(422): the ids of invocations are public, and who asks first with an id that is not theirs must not
take it from the Leader who asks next.
"""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic

from nexus_tools.tool import Problem
from nexus_tools.tool_server.response import ProblemError, Response


@dataclass(slots=True)
class _Invocation:
    """One request, and the response once there is one."""

    request: Hashable
    response: Response | None = None
    expires_at: float = 0.0


class RecentInvocations:
    """Remembers responses for `lifetime_s` seconds, at most `max_count` and `max_bytes` of them.

    A request is its key with all else that makes it the same or another. Those that run are kept
    in any case; the server bounds how many run.
    """

    def __init__(
        self,
        *,
        lifetime_s: float = 3_600,
        max_count: int = 10_000,
        max_bytes: int = 64 * 2**20,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._lifetime_s = lifetime_s
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._clock = clock
        self._known: dict[Hashable, _Invocation] = {}
        # Those that have a response, in the order in which they are forgotten.
        self._complete: deque[_Invocation] = deque()
        self._bytes = 0

    def begin(self, request: Hashable) -> Response | None:
        """The stored response, or none: then the invocation counts as running from now on.

        Raises `ProblemError` for one that is running.
        """
        known = self._known.get(request)
        if known is not None and known.response is not None:
            now = self._clock()
            if known.expires_at <= now:
                self._forget_old(now)
                known = None
        if known is None:
            self._known[request] = _Invocation(request)
            return None
        if known.response is None:
            detail = "an invocation with this idempotency key is already running"
            raise ProblemError(Problem.ALREADY_RUNNING, detail)
        return known.response

    def finish(self, request: Hashable, response: Response) -> None:
        """Store the response of a running invocation."""
        now = self._clock()
        invocation = self._known[request]
        invocation.response = response
        invocation.expires_at = now + self._lifetime_s
        self._complete.append(invocation)
        self._bytes += len(response.body)
        self._forget_old(now)

    def abandon(self, request: Hashable) -> None:
        """Forget a request that did not run; the client may repeat it."""
        self._known.pop(request, None)

    def _forget_old(self, now: float) -> None:
        complete = self._complete
        while complete and (
            len(complete) > self._max_count
            or self._bytes > self._max_bytes
            or complete[0].expires_at <= now
        ):
            oldest = complete.popleft()
            del self._known[oldest.request]
            assert oldest.response is not None
            self._bytes -= len(oldest.response.body)
