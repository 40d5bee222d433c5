"""Changes of single rows in the tables of a module."""

from collections.abc import Callable, Sequence
from typing import Any


def with_row(rows: Sequence[Any], place: int, change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return the rows, one of which is changed."""
    if not rows:
        return tuple(rows)
    place %= len(rows)
    return (*rows[:place], change(rows[place]), *rows[place + 1 :])
