"""The delays before a schedule is checked again after a check that started no execution."""

import random

from nexus_tools.errors import UnreachableError, WrongStateError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.backoff import Backoff

_FIRST_MS = 2_000
# The first limit is short, because the node or the gas may be available again at any moment. The
# second limit is long, because errors of a schedule (untrusted input) are usually permanent.
_MAX_OWN_MS, _MAX_MS = 60_000, 3_600_000


class RetryDelays:
    """Delays that double, up to a minute for the Leader's own failures, or else up to an hour."""

    def __init__(self, config: LeaderConfig) -> None:
        self._own = Backoff(config.error_retry_delay_ms, _MAX_OWN_MS)
        self._others = Backoff(_FIRST_MS, _MAX_MS)
        self._chance = random.Random()  # noqa: S311 - spreads retries, keeps no secret

    def pause_ms(self, setbacks: int, error: Exception | None = None) -> int:
        """Return the delay in ms after `setbacks` failures in a row. `error` is the last error."""
        is_own = isinstance(error, UnreachableError | WrongStateError)
        backoff = self._own if is_own else self._others
        return int(backoff.pause_ms(setbacks, self._chance))
