"""Times of the chain in words."""

from datetime import UTC, datetime

_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))


def utc(time_ms: int) -> str:
    """A time, in ms since 1970: `2026-11-28 09:14 UTC`."""
    try:
        moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{time_ms} ms after 1970"
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def duration(time_ms: int) -> str:
    """A span in its two largest units, `6 d 23 h`; less than a second is `1 s`."""
    rest = max(time_ms, 1_000)
    parts: list[tuple[int, str]] = []
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append((count, name))
    return " ".join(f"{count} {name}" for count, name in parts[:2] if count)
