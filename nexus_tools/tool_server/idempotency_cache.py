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
from time import monotonic

from msgspec import Struct

from nexus_tools.tool import Problem
from nexus_tools.tool_server.response import ProblemError, Response


class _Invocation(Struct, frozen=True, gc=False):
    """A complete request with its response.

    Thousands are stored, so the garbage collector must not visit them. They cannot form cycles.
    """

    request: Hashable
    response: Response
    expires_at: float


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
        self._running: set[Hashable] = set()
        self._complete: dict[Hashable, _Invocation] = {}
        self._by_expiry: deque[_Invocation] = deque()
        self._bytes = 0

    def begin(self, request: Hashable) -> Response | None:
        """Return the stored response. If no response is stored, mark the request as running.

        Raises `ProblemError` if the request is already running.
        """
        known = self._complete.get(request)
        if known is not None:
            now = self._clock()
            if known.expires_at > now:
                return known.response
            self._forget_old(now)
        if request in self._running:
            detail = "an invocation with this idempotency key is already running"
            raise ProblemError(Problem.ALREADY_RUNNING, detail)
        self._running.add(request)
        return None

    def finish(self, request: Hashable, response: Response) -> None:
        """Store the response of a running invocation."""
        now = self._clock()
        self._running.remove(request)
        invocation = _Invocation(request, response, now + self._lifetime_s)
        self._complete[request] = invocation
        self._by_expiry.append(invocation)
        self._bytes += len(response.body)
        self._forget_old(now)

    def abandon(self, request: Hashable) -> None:
        """Remove a request that did not run, so that the client may repeat the request."""
        self._running.discard(request)

    def _forget_old(self, now: float) -> None:
        by_expiry = self._by_expiry
        while by_expiry and (
            len(by_expiry) > self._max_count
            or self._bytes > self._max_bytes
            or by_expiry[0].expires_at <= now
        ):
            oldest = by_expiry.popleft()
            del self._complete[oldest.request]
            self._bytes -= len(oldest.response.body)
