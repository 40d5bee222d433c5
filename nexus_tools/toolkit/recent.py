"""Recent invocations by key, so that a repeated request gets a response and is not run again.

Follows the IETF draft "The Idempotency-Key HTTP Header Field": the same key with another request is
a mistake of the client (422), with one that still runs a conflict (409), and otherwise gets the
response of the first, whether that was an outcome or a problem.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from nexus_tools.tool import Problem
from nexus_tools.toolkit.response import ProblemError, Response

_DIGEST_BYTES = 32


@dataclass(slots=True)
class _Invocation:
    """One key: what was asked, and the response once there is one.

    `request` is the body, or its SHA-256 unless the body is shorter than that.
    """

    key: str
    request: bytes
    response: Response | None = None
    expires_at: float = 0.0


class RecentInvocations:
    """Remembers responses for `lifetime_s` seconds, at most `max_count` and `max_bytes` of them.

    Keys of running invocations are kept in any case; the server bounds how many run.
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
        self._known: dict[str, _Invocation] = {}
        # Those that have a response, in the order in which they are forgotten.
        self._complete: deque[_Invocation] = deque()
        self._bytes = 0

    def begin(self, key: str, body: bytes) -> Response | None:
        """The stored response, or none: then the invocation counts as running from now on.

        Raises `ProblemError` for a key that is running or belongs to another request.
        """
        request = body if len(body) < _DIGEST_BYTES else sha256(body).digest()
        known = self._known.get(key)
        if known is not None and known.response is not None:
            now = self._clock()
            if known.expires_at <= now:
                self._forget_old(now)
                known = None
        if known is None:
            self._known[key] = _Invocation(key, request)
            return None
        if known.request != request:
            detail = "this idempotency key belongs to a request with another body"
            raise ProblemError(Problem.KEY_REUSED, detail, errors=[])
        if known.response is None:
            detail = "an invocation with this idempotency key is already running"
            raise ProblemError(Problem.ALREADY_RUNNING, detail)
        return known.response

    def finish(self, key: str, response: Response) -> None:
        """Store the response of a running invocation."""
        now = self._clock()
        invocation = self._known[key]
        invocation.response = response
        invocation.expires_at = now + self._lifetime_s
        self._complete.append(invocation)
        self._bytes += len(response.body)
        self._forget_old(now)

    def abandon(self, key: str) -> None:
        """Forget a key whose invocation did not run; the client may use it again."""
        self._known.pop(key, None)

    def _forget_old(self, now: float) -> None:
        complete = self._complete
        while complete and (
            len(complete) > self._max_count
            or self._bytes > self._max_bytes
            or complete[0].expires_at <= now
        ):
            oldest = complete.popleft()
            del self._known[oldest.key]
            assert oldest.response is not None
            self._bytes -= len(oldest.response.body)
