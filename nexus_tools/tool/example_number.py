"""Numbers within the bounds of a schema, near 1 where the bounds allow it."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import ceil, floor
from typing import Any

_NEIGHBOURS = 12


def integer_candidates(schema: dict[str, Any]) -> Iterator[int]:
    """Whole multiples of `multipleOf`, from the one nearest to 1 outwards."""
    step = _exact(schema.get("multipleOf", 1))
    whole = step * step.denominator
    return (int(value) for value in _multiples(whole, schema) if _is_allowed(value, schema))


def number_candidates(schema: dict[str, Any]) -> Iterator[int | float]:
    """Whole numbers first, then multiples of `multipleOf` or fractions between the bounds."""
    if "multipleOf" in schema:
        others = _multiples(_exact(schema["multipleOf"]), schema)
    else:
        others = _between(schema)
    fractions = (float(value) for value in others if _is_allowed(value, schema))
    return chain(integer_candidates(schema), fractions)


def _multiples(step: Fraction, schema: dict[str, Any]) -> Iterator[Fraction]:
    low, high = _bounds(schema)
    start = ceil(1 / step)
    start = start if high is None else min(start, floor(high / step))
    start = start if low is None else max(start, ceil(low / step))
    for offset in range(_NEIGHBOURS):
        yield (start + offset) * step
        yield (start - offset) * step


def _between(schema: dict[str, Any]) -> Iterator[Fraction]:
    low, high = _bounds(schema)
    if low is not None and high is not None:
        yield from (low + (high - low) * part / 8 for part in (4, 2, 6, 0, 8))
    elif low is not None or high is not None:
        yield low if low is not None else high or Fraction(0)


def _bounds(schema: dict[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """The tightest lower and upper bound, whether or not they are included."""
    lows = [_exact(schema[key]) for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [_exact(schema[key]) for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lows, default=None), min(highs, default=None)


def _is_allowed(value: Fraction, schema: dict[str, Any]) -> bool:
    low, high = _bounds(schema)
    return (
        (low is None or low <= value)
        and (high is None or value <= high)
        and value not in [_exact(schema[k]) for k in _EXCLUSIVE if k in schema]
    )


def _exact(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


_EXCLUSIVE = ("exclusiveMinimum", "exclusiveMaximum")
