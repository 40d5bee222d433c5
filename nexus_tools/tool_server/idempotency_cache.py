"""The cache of recent responses by idempotency key, so that the tool does not run twice.

The cache follows the IETF draft "The Idempotency-Key HTTP Header Field". If a request is repeated
while it is running, the repetition is a conflict (409). If the request is complete, the repetition
receives the stored response, whether an outcome or a problem.

The cache differs from the draft in one respect. A different request with the same key is a new
request, and not a client error (422). The IDs of invocations are public, so an untrusted caller
could otherwise use the ID of another account's invocation and block its Leader.
"""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic

from nexus_tools.tool import Problem
from nexus_tools.tool_server.response import ProblemError, Response


@dataclass(slots=True)
class _Invocation:
    """A request and, after it completes, its response."""

    request: Hashable
    response: Response | None = None
    expires_at: float = 0.0


class IdempotencyCache:
    """A cache of at most `max_count` responses with `max_bytes` bytes in total.

    A response is stored for `lifetime_s` seconds. Requests are identified by a hashable value,
    which contains the key and all other properties that distinguish requests. Running requests are
    never evicted, because the server bounds their number.
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
        # The invocations with a response, in the order in which they expire.
        self._complete: deque[_Invocation] = deque()
        self._bytes = 0

    def begin(self, request: Hashable) -> Response | None:
        """Return the stored response. If no response is stored, mark the request as running.

        Raises `ProblemError` if the request is already running.
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
        """Remove a request that did not run, so that the client may repeat the request."""
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
