"""How long a schedule is left alone after nothing came of looking at it."""

import random

from nexus_tools.errors import NotNowError, UnreachableError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.backoff import Backoff

_FIRST_MS = 2_000
# What the Leader itself lacks, a node or gas, may be there any moment; what a stranger made
# impossible stays so.
_LONGEST_TROUBLE_MS, _LONGEST_MS = 60_000, 3_600_000


class Setbacks:
    """Pauses that double: up to a minute if it was for the Leader itself, else up to an hour."""

    def __init__(self, config: LeaderConfig) -> None:
        self._trouble = Backoff(config.trouble_pause_ms, _LONGEST_TROUBLE_MS)
        self._in_vain = Backoff(_FIRST_MS, _LONGEST_MS)
        self._chance = random.Random()  # noqa: S311 - spreads retries, keeps no secret

    def pause_ms(self, setbacks: int, error: Exception | None = None) -> int:
        """The pause after so many in a row, of which an `error` may have been the last."""
        is_own = isinstance(error, UnreachableError | NotNowError)
        backoff = self._trouble if is_own else self._in_vain
        return int(backoff.pause_ms(setbacks, self._chance))
