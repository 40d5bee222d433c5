"""Recent invocations by key, so that a repeated request is answered and not run again.

Follows the IETF draft "The Idempotency-Key HTTP Header Field": the same key with another request is
a mistake of the client (422), with one that still runs a conflict (409), and otherwise gets the
answer of the first, whether that was an outcome or an error.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from time import monotonic

from nexus_tools.toolkit.answer import Answer, ProblemError


@dataclass(slots=True)
class _Invocation:
    """One key: what was asked, and what was answered once it is."""

    request_digest: bytes
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
        self._running: dict[str, _Invocation] = {}
        self._answered: OrderedDict[str, _Invocation] = OrderedDict()
        self._bytes = 0

    def begin(self, key: str, body: bytes) -> Answer | None:
        """The stored answer, or none: then the invocation counts as running from now on.

        Raises `ProblemError` for a key that is running or belongs to another request.
        """
        digest = sha256(body).digest()
        known = self._running.get(key) or self._answered.get(key)
        if known is not None and known.answer is not None and known.expires_at <= self._clock():
            self._forget_old()
            known = None
        if known is None:
            self._running[key] = _Invocation(digest)
            return None
        if known.request_digest != digest:
            detail = "this idempotency key belongs to a request with another body"
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "key_reused", detail, errors=[])
        if known.answer is None:
            detail = "an invocation with this idempotency key is already running"
            raise ProblemError(HTTPStatus.CONFLICT, "already_running", detail)
        return known.answer

    def finish(self, key: str, answer: Answer) -> None:
        """Store the answer of a running invocation."""
        invocation = self._running.pop(key)
        invocation.answer = answer
        invocation.expires_at = self._clock() + self._lifetime_s
        self._answered[key] = invocation
        self._bytes += len(answer.body)
        self._forget_old()

    def abandon(self, key: str) -> None:
        """Forget a key whose invocation did not run; the client may use it again."""
        self._running.pop(key, None)

    def _forget_old(self) -> None:
        now = self._clock()
        while self._answered:
            oldest = next(iter(self._answered.values()))
            fits = len(self._answered) <= self._max_count and self._bytes <= self._max_bytes
            if fits and oldest.expires_at > now:
                return
            _, forgotten = self._answered.popitem(last=False)
            assert forgotten.answer is not None
            self._bytes -= len(forgotten.answer.body)
