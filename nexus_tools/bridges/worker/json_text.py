"""A value as strict JSON, or a `TypeError` or `ValueError` that says what is wrong and where.

Standard library of Python 3.9 and later: it runs in the foreign interpreter.
"""

import json
import math

MAX_DEPTH = 60


def json_text(value: object) -> bytes:
    """The value as JSON text, in which tuples are arrays.

    Raises `TypeError` for what is no JSON value and for names that are no strings; `ValueError` for
    NaN and infinities, half a surrogate pair, and what nests deeper than 60 levels.
    """
    waiting: list[tuple[str, int, object]] = [("", 0, value)]
    while waiting:
        place, depth, one = waiting.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"the answer nests deeper than {MAX_DEPTH} levels, or holds itself")
        if isinstance(one, dict):
            waiting.extend((f"{place}/{_name(name, place)}", depth + 1, one[name]) for name in one)
        elif isinstance(one, (list, tuple)):
            waiting.extend((f"{place}/{index}", depth + 1, each) for index, each in enumerate(one))
        else:
            _check_leaf(one, place)
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _name(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name in {_at(place)} is a {type(name).__name__}, and no string")
    _check_text(name, place)
    return name.replace("~", "~0").replace("/", "~1")


def _check_leaf(leaf: object, place: str) -> None:
    if isinstance(leaf, str):
        _check_text(leaf, place)
    elif isinstance(leaf, float):
        if not math.isfinite(leaf):
            raise ValueError(f"{_at(place)} is {leaf}, which is no JSON number")
    elif leaf is not None and not isinstance(leaf, (bool, int)):
        raise TypeError(f"{_at(place)} is a {type(leaf).__name__}, which is no JSON value")


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{_at(place)} has half a surrogate pair, which is no text") from None


def _at(place: str) -> str:
    return f"the answer at {place[:200]}" if place else "the answer"
