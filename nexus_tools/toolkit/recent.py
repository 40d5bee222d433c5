"""Recent invocations by key, so that a repeated request is answered and not run again.

Follows the IETF draft "The Idempotency-Key HTTP Header Field": the same key with another request is
a mistake of the client (422), with one that still runs a conflict (409), and otherwise gets the
answer of the first, whether that was an outcome or an error.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from time import monotonic

from nexus_tools.toolkit.answer import Answer, ProblemError

_DIGEST_BYTES = 32


@dataclass(slots=True)
class _Invocation:
    """One key: what was asked, and what was answered once it is.

    `request` is the body, or its SHA-256 unless the body is shorter than that.
    """

    request: bytes
    answer: Answer | None = None
    expires_at: float = 0.0


class RecentInvocations:
    """Remembers answers for `lifetime_s` seconds, at most `max_count` and `max_bytes` of them.

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
        # The keys of those that were answered, in the order in which they are forgotten.
        self._answered: deque[str] = deque()
        self._bytes = 0

    def begin(self, key: str, body: bytes) -> Answer | None:
        """The stored answer, or none: then the invocation counts as running from now on.

        Raises `ProblemError` for a key that is running or belongs to another request.
        """
        request = body if len(body) < _DIGEST_BYTES else sha256(body).digest()
        known = self._known.get(key)
        if known is not None and known.answer is not None:
            now = self._clock()
            if known.expires_at <= now:
                self._forget_old(now)
                known = None
        if known is None:
            self._known[key] = _Invocation(request)
            return None
        if known.request != request:
            detail = "this idempotency key belongs to a request with another body"
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "key_reused", detail, errors=[])
        if known.answer is None:
            detail = "an invocation with this idempotency key is already running"
            raise ProblemError(HTTPStatus.CONFLICT, "already_running", detail)
        return known.answer

    def finish(self, key: str, answer: Answer) -> None:
        """Store the answer of a running invocation."""
        now = self._clock()
        invocation = self._known[key]
        invocation.answer = answer
        invocation.expires_at = now + self._lifetime_s
        self._answered.append(key)
        self._bytes += len(answer.body)
        self._forget_old(now)

    def abandon(self, key: str) -> None:
        """Forget a key whose invocation did not run; the client may use it again."""
        self._known.pop(key, None)

    def _forget_old(self, now: float) -> None:
        while self._answered:
            oldest = self._known[self._answered[0]]
            fits = len(self._answered) <= self._max_count and self._bytes <= self._max_bytes
            if fits and oldest.expires_at > now:
                return
            del self._known[self._answered.popleft()]
            assert oldest.answer is not None
            self._bytes -= len(oldest.answer.body)
