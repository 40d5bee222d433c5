"""When to try again: growing pauses with chance in them, and what a tool asks for itself."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double from `first_ms` to `longest_ms`, each between half of it and all of it."""

    first_ms: int
    longest_ms: int

    def pause_ms(self, attempt: int, chance: random.Random) -> float:
        """The pause after the `attempt`th attempt, counted from 1."""
        whole = min(self.first_ms << min(attempt - 1, 32), self.longest_ms)
        return whole * (0.5 + chance.random() / 2)


def retry_after_ms(header: str, now: datetime) -> float | None:
    """What `Retry-After` says (RFC 9110, section 10.2.3): seconds, or a date; None for nonsense."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text) * 1000 if len(text) < 10 else None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds() * 1000)
