"""Exponential back-off with jitter."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double from `first_ms` to `longest_ms`, each between half and all of that.

    From 200 to 5 000 these are at most 200, 400, 800, 1 600, 3 200 and then 5 000 ms.
    """

    first_ms: int
    longest_ms: int

    def pause_ms(self, attempt: int, chance: random.Random) -> float:
        """Return the pause after an attempt, counted from 1, in ms."""
        whole = min(self.first_ms << min(attempt - 1, 32), self.longest_ms)
        return whole * (0.5 + chance.random() / 2)
