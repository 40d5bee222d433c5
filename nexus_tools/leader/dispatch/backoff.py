"""Exponential back-off with jitter."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """A sequence of pauses whose upper limit doubles from `first_ms` to `longest_ms`.

    Each pause is random, between half of its limit and the limit. From 200 to 5 000 ms, the limits
    are 200, 400, 800, 1 600, 3 200, and then always 5 000 ms.
    """

    first_ms: int
    longest_ms: int

    def pause_ms(self, attempt: int, chance: random.Random) -> float:
        """Return the pause in ms after an attempt. The first attempt has the number 1."""
        whole = min(self.first_ms << min(attempt - 1, 32), self.longest_ms)
        return whole * (0.5 + chance.random() / 2)
