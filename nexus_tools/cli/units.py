"""Amounts, times and durations, as people write and read them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Number = click.ParamType[int]
else:  # it is generic from click 8.5 on
    _Number = click.ParamType

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
    for unit, name in (("d", "d"), ("h", "h"), ("m", "min"), ("s", "s")):
        count, milliseconds = divmod(milliseconds, _UNITS_MS[unit])
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or f"{milliseconds} ms"


def moment(timestamp_ms: int) -> str:
    """A time in UTC: `2026-11-28 09:14 UTC`."""
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def moment_from(timestamp_ms: int, now_ms: int) -> str:
    """A time, and how long it is until then: `2026-11-28 09:14 UTC (in 6 d 23 h)`."""
    left_ms = timestamp_ms - now_ms
    return moment(timestamp_ms) + (f" (in {duration(left_ms)})" if left_ms > 0 else "")


def in_words(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record for people: `…_mist` as SUI, `…_at_ms` and `time_ms` as times, `…_ms` as spans."""
    return dict(_in_words(key, value) for key, value in record.items())


def _in_words(key: str, value: Any) -> tuple[str, Any]:
    if key == "time_ms":
        return "time", moment(value)
    for suffix, write in (("_mist", sui), ("_at_ms", moment), ("_ms", duration)):
        if key.endswith(suffix):
            return key.removesuffix(suffix), None if value is None else write(value)
    return key, value


class Duration(_Number):
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


class Amount(_Number):
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
