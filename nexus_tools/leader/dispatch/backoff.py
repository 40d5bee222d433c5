"""How long to wait before something is tried again."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double from `first_ms` to `longest_ms`, each between half of it and all of it.

    From 200 to 5 000 these are 200, 400, 800, 1 600, 3 200 and then 5 000 ms at most.
    """

    first_ms: int
    longest_ms: int

    def pause_ms(self, attempt: int, chance: random.Random) -> float:
        """The pause after the `attempt`th attempt, counted from 1."""
        whole = min(self.first_ms << min(attempt - 1, 32), self.longest_ms)
        return whole * (0.5 + chance.random() / 2)
