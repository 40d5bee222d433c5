"""Formatting and parsing of amounts, durations, times and counts for users.

Programs use MIST and milliseconds. The parsers accept all texts that the formatters return.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nexus_tools.sui.errors import UsageError

MIST_PER_SUI = 1_000_000_000
_MAX = 2**64 - 1  # amounts and times are u64 on chain

# The units of durations, from the largest to the smallest. The formatters use the last spelling.
_SPANS_MS = (
    (86_400_000, ("d",)),
    (3_600_000, ("h",)),
    (60_000, ("m", "min")),
    (1_000, ("s",)),
    (1, ("ms",)),
)
_MS_OF = {spelling: size for size, spellings in _SPANS_MS for spelling in spellings}
_SPAN = re.compile(r"(\d{1,40}) ?(ms|min|[dhms])", re.ASCII)
DURATION = re.compile(rf"(?:{_SPAN.pattern} ?)+", re.ASCII)
_AMOUNT = re.compile(
    r"(\d{1,3}(?: \d{3}){1,12}|\d{1,40})(?:\.(\d{1,40}))?(?: ?SUI)?", re.ASCII | re.IGNORECASE
)


# --- Amounts


def sui(mist: int) -> str:
    """Format an amount of MIST in SUI, such as `1.25 SUI`, exactly and without trailing zeros."""
    sign, mist = ("-", -mist) if mist < 0 else ("", mist)
    whole, remainder = divmod(mist, MIST_PER_SUI)
    fraction = f".{remainder:09d}".rstrip("0") if remainder else ""
    return f"{sign}{whole:,}{fraction} SUI".replace(",", " ")


def format_sui_argument(mist: int) -> str:
    """Format an amount in SUI for a command, such as `0.362`. Round up to three decimals."""
    return f"{-(-mist * 1_000 // MIST_PER_SUI) / 1_000:.3f}"


def parse_sui(text: str) -> int:
    """Parse an amount in SUI, such as `1`, `0.25` or `12 345 SUI`, and return it in MIST.

    Raises `amount_invalid`.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            "amount_invalid",
            f"{text[:80]!r} is not an amount in SUI",
            hint="Write an amount such as 1 or 0.25.",
        )
    whole, fraction = match.groups(default="")
    fraction = fraction.rstrip("0").ljust(9, "0")
    if len(fraction) > 9:
        message = f"{text[:80]!r} has more than nine decimals"
        raise UsageError(
            "amount_invalid", message, hint="The smallest amount is 1 MIST (0.000000001 SUI)."
        )
    mist = int(whole.replace(" ", "")) * MIST_PER_SUI + int(fraction)
    if mist > _MAX:
        message = f"the amount {text[:80]!r} is too large"
        raise UsageError("amount_invalid", message, hint=f"Write at most {sui(_MAX)}.")
    return mist


def parse_gas_price(text: str | None) -> int | None:
    """Parse a gas price, which is a positive integer of MIST. If the text is None, return None.

    Raises `gas_price_invalid`.
    """
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) < 2**63:
        raise UsageError(
            "gas_price_invalid",
            f"{text[:80]!r} is not a gas price: expected a positive integer of MIST",
            hint="Use 10000, for example. The gas price of Sui networks is usually at most 1000.",
        )
    return int(text)


# --- Durations


def duration(milliseconds: int) -> str:
    """Format a duration in its two largest units, such as `6 d 23 h`, `1 d` or `500 ms`."""
    remainder = milliseconds
    counts: list[tuple[int, str]] = []
    for size, spellings in _SPANS_MS:
        count, remainder = divmod(remainder, size)
        if count or counts:
            counts.append((count, spellings[-1]))
    return " ".join(f"{count} {unit}" for count, unit in counts[:2] if count) or "0 ms"


def format_duration_argument(milliseconds: int) -> str:
    """Format a duration, rounded up, as one word for a command, such as `7d` or `6d23h`."""
    sizes = [size for size, _ in _SPANS_MS if milliseconds >= size][:2] or [1]
    return duration(-(-milliseconds // sizes[-1]) * sizes[-1]).replace(" ", "")


def _round_up(milliseconds: int) -> str:
    """Format a waiting time. A time of more than one second is rounded up to whole seconds."""
    return duration(milliseconds + -milliseconds % 1_000 if milliseconds > 1_000 else milliseconds)


def parse_duration(text: str) -> int:
    """Parse a duration such as `7d`, `1h30m`, `500ms` or `6 d 23 h`. Return milliseconds.

    Raises `duration_invalid`.
    """
    if not DURATION.fullmatch(text):
        raise UsageError(
            "duration_invalid",
            f"{text[:80]!r} is not a duration",
            hint="Write a duration such as 7d, 1h30m, 10s or 500ms.",
        )
    milliseconds = sum(int(count) * _MS_OF[unit] for count, unit in _SPAN.findall(text))
    if milliseconds > _MAX:
        message = f"the duration {text[:80]!r} is too long"
        raise UsageError("duration_invalid", message, hint=f"Write at most {duration(_MAX)}.")
    return milliseconds


def parse_timeout(text: str) -> int:
    """Parse a timeout, and return milliseconds. Raises `duration_invalid` or `timeout_invalid`."""
    timeout_ms = parse_duration(text)
    if not timeout_ms:
        raise UsageError(
            "timeout_invalid",
            f"a timeout of {text[:80]} is too short for any response",
            hint="Write a timeout such as 10s or 500ms.",
        )
    return timeout_ms


# --- Times


def utc(time_ms: int, now_ms: int | None = None) -> str:
    """Format a time, given in ms since 1970, such as `2026-11-28 09:14 UTC`.

    If `now_ms` is set, add the remaining time, as in `2026-11-28 09:14 UTC (in 6 d 23 h)`.
    """
    wait = "" if now_ms is None or now_ms >= time_ms else f" (in {_round_up(time_ms - now_ms)})"
    return f"{_written(time_ms, '%Y-%m-%d %H:%M UTC')}{wait}"


def format_utc_seconds(time_ms: int) -> str:
    """Format a time, given in ms since 1970, with seconds, for example for a list of events."""
    return _written(time_ms, "%Y-%m-%d %H:%M:%S UTC")


def ago(milliseconds: int) -> str:
    """Format the age of an event, such as `9 s ago`, in whole seconds if it exceeds a second."""
    remainder = milliseconds % 1_000 if milliseconds > 1_000 else 0
    return f"{duration(milliseconds - remainder)} ago"


def _written(time_ms: int, form: str) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime(form)
    except (ValueError, OverflowError, OSError):  # a contract may set any u64 as a time
        return f"{time_ms} ms after 1970"


# --- Counts


def count(number: int, noun: str, several: str = "") -> str:
    """Format a count, such as `1 tool` or `2 tools`.

    If the plural is irregular, pass the plural as `several`.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {several or f'{noun}s'}"


# --- Records


def in_words(record: Mapping[str, Any]) -> dict[str, Any]:
    """Format the values of a record for users.

    A value with a key `…_mist` is formatted in SUI. A value with a key `…_at_ms` or `time_ms` is
    formatted as a time, and with another key `…_ms` as a duration. These suffixes are removed from
    the keys.
    """
    return dict(_in_words(key, value) for key, value in record.items())


def _in_words(key: str, value: Any) -> tuple[str, Any]:
    if key == "time_ms":
        return "time", utc(value)
    for suffix, write in (("_mist", sui), ("_at_ms", utc), ("_ms", duration)):
        if key.endswith(suffix):
            return key.removesuffix(suffix), None if value is None else write(value)
    return key, value
