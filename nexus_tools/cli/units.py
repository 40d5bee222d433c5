"""Amounts, times and durations, as people write and read them."""

import re
from datetime import UTC, datetime

import click

MIST_PER_SUI = 1_000_000_000
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(?:\d+(?:ms|s|m|h|d))+", re.ASCII)
_DURATION_PART = re.compile(r"(\d+)(ms|s|m|h|d)", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?(?: ?SUI)?", re.ASCII | re.IGNORECASE)


def sui(mist: int) -> str:
    """An amount of MIST in SUI, without zeros at the end: `1.25 SUI`."""
    sign, mist = ("-", -mist) if mist < 0 else ("", mist)
    whole, rest = divmod(mist, MIST_PER_SUI)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{sign}{whole:,}{fraction} SUI".replace(",", " ")


def duration(milliseconds: int) -> str:
    """A duration in its two largest units: `6 d 23 h`."""
    parts = []
    for unit in ("d", "h", "m", "s"):
        count, milliseconds = divmod(milliseconds, _UNITS_MS[unit])
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or f"{milliseconds} ms"


def moment(timestamp_ms: int) -> str:
    """A time in UTC: `2026-11-28 09:14 UTC`."""
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


class Duration(click.ParamType):
    """A duration such as `7d`, `1h30m` or `500ms`, in milliseconds."""

    name = "duration"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read the text."""
        if isinstance(value, int):
            return value
        if not _DURATION.fullmatch(value):
            self.fail(f"{value!r} is not a duration: write 7d, 1h30m, 10s or 500ms", param, ctx)
        return sum(int(count) * _UNITS_MS[unit] for count, unit in _DURATION_PART.findall(value))


class Amount(click.ParamType):
    """An amount in SUI such as `1` or `0.25`, in MIST."""

    name = "sui"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read the text."""
        if isinstance(value, int):
            return value
        match = _AMOUNT.fullmatch(value.strip())
        if match is None:
            self.fail(f"{value!r} is not an amount in SUI: write 1 or 0.25", param, ctx)
        return int(match[1]) * MIST_PER_SUI + int((match[2] or "").ljust(9, "0"))


DURATION = Duration()
AMOUNT = Amount()
