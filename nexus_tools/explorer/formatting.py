"""Formatting of values for templates, as plain text that the templates escape."""

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

from markupsafe import Markup

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support import units
from nexus_tools.sui.support.untrusted_text import many_lines, one_line
from nexus_tools.tool import http_url_problem

_SPANS_MS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))
_MINUTE_MS = 60_000
_SHORT_HEAD, _SHORT_TAIL = 6, 4
_MAX_MARKS = 8
# Cleaning takes about a microsecond per character, so a text is cut before it is cleaned.
_RESERVE = 2
_CACHED_TIMES = 4_096
_ELLIPSIS = "…"

_OK, _WAITING, _WARNING, _BAD = "ok", "waiting", "warning", "bad"
_STATUS_KINDS = {
    "active": _OK,
    "settled": _OK,
    "succeeded": _OK,
    "finished": _OK,
    "completed": _OK,
    "proved": _OK,
    "done": _OK,
    "open": _WAITING,
    "running": _WAITING,
    "waiting": _WAITING,
    "completed_with_failures": _WARNING,
    "inactive": _WARNING,
    "paused": _WARNING,
    "unregistered": _WARNING,
    "cancelled": _WARNING,
    "expired": _WARNING,
    "claimed": _WARNING,
    "unprovable": _WARNING,
    "to_do": _WARNING,
}


# --- Untrusted text


def clean(text: object, limit: int = 300) -> str:
    """Return an untrusted text on one line, without invisible characters, cut at a limit."""
    return _bounded(str(text), limit, lines=False)


def clean_lines(text: object, limit: int = 20_000) -> str:
    """Return an untrusted text with its line breaks, cleaned like `clean`."""
    return _bounded(str(text), limit, lines=True)


def marked(text: object, limit: int = 300) -> Markup:
    """Return an untrusted text like `clean`, with the parts between backticks as code."""
    parts = clean(text, limit).split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner
        parts = ["`".join(parts)]
    tag = Markup("<code>{}</code>")
    return Markup("").join(
        tag.format(part) if index % 2 else part for index, part in enumerate(parts)
    )


def _bounded(text: str, limit: int, *, lines: bool) -> str:
    head = text[: limit * _RESERVE]
    cleaned = many_lines(head, limit) if lines else one_line(head, limit)
    if len(text) > len(head) and not cleaned.endswith(_ELLIPSIS):
        cleaned += _ELLIPSIS
    return cleaned if cleaned.isascii() else _with_few_marks(cleaned)


def _with_few_marks(text: str) -> str:
    """Return a text with at most `_MAX_MARKS` combining marks on a character.

    A line break cannot separate a character from its marks, and some fonts give each mark a width.
    """
    kept, run = [], 0
    for char in text:
        run = run + 1 if unicodedata.category(char).startswith("M") else 0
        if run <= _MAX_MARKS:
            kept.append(char)
        elif run == _MAX_MARKS + 1:
            kept.append(_ELLIPSIS)
    return "".join(kept)


def external_url(url: str) -> str | None:
    """Return an untrusted URL if a link may contain it: http or https, without a user name."""
    return None if http_url_problem(url) else url


def path_part(text: object) -> str:
    """Return a text as one segment of a path, such as an FQN."""
    return quote(str(text), safe="@.-_~")


# --- IDs, amounts and counts


def breakable(text: str) -> Markup:
    """Return an untrusted FQN on one line, which a browser may break at dots and before the @."""
    parts = re.split(r"(?<=\.)|(?=@)", clean(text))
    return Markup("<wbr>").join(parts)  # `join` escapes the parts


def short_id(value: object) -> str:
    """Return the first and last digits of an address, an ID or a digest, such as `0x12ab…34cd`."""
    text = str(value)
    if len(text) <= _SHORT_HEAD + _SHORT_TAIL + 1:
        return text
    return f"{text[:_SHORT_HEAD]}{_ELLIPSIS}{text[-_SHORT_TAIL:]}"


def number(value: int) -> str:
    """Return an integer with narrow spaces between groups of three digits."""
    return f"{value:,}".replace(",", "\u202f")


def percent(share: float) -> str:
    """Return a share between 0 and 1 in percent. Only a whole share has 100 % or 0 %."""
    rounded = round(100 * share)
    if rounded in (0, 100) and rounded != 100 * share:
        return "> 99 %" if rounded else "< 1 %"
    return f"{rounded} %"


def latency(milliseconds: int) -> str:
    """Return a latency with two or three digits, such as `806 ms` or `1.7 s`."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1_000:.1f} s"
    return units.duration(milliseconds)


def in_words(name: object) -> str:
    """Return an identifier such as `timed_out` as words: `Timed out`."""
    return capitalized(str(name).replace("_", " "))


def capitalized(text: str) -> str:
    """Return a text with an upper-case first letter."""
    return text[:1].upper() + text[1:]


def status_kind(status: object) -> str:
    """Return the kind of a state or an outcome: `ok`, `waiting`, `warning` or `bad`."""
    return _STATUS_KINDS.get(str(status), _BAD)


# --- Times


def relative(time_ms: int, now_ms: int) -> str:
    """Return a time relative to now in its largest unit, such as `5 min ago` or `in 3 d`.

    A text changes at most once a minute, so that a cached page stays valid.
    """
    distance_ms = abs(time_ms - now_ms)
    if distance_ms < _MINUTE_MS:
        return "just now" if time_ms <= now_ms else "in less than 1 min"
    size, unit = next(span for span in _SPANS_MS if distance_ms >= span[0])
    text = f"{distance_ms // size} {unit}"
    return f"{text} ago" if time_ms < now_ms else f"in {text}"


@lru_cache(_CACHED_TIMES)
def iso(time_ms: int) -> str:
    """Return a time in ISO 8601 for the attribute `datetime`, or an empty text if it is too large.

    A contract may set any u64 as a time.
    """
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


utc_seconds = lru_cache(_CACHED_TIMES)(units.format_utc_seconds)
"""Format a time like `units.format_utc_seconds`. The list of a page has hundreds of times."""


def day(time_ms: int) -> str:
    """Return the day of a time, such as `2026-11-28`."""
    return iso(time_ms)[:10]


# --- Parameters


def parse_max_price(text: str | None) -> int | None:
    """Return a price in SUI that a user entered as MIST, or None. Raises `amount_invalid`."""
    if text is None:
        return None
    mist = units.parse_sui(text)
    if mist >= 2**63:
        raise ValidationError("amount_invalid", f"the amount {text[:80]!r} is too large")
    return mist


FILTERS = {
    "clean": clean,
    "clean_lines": clean_lines,
    "marked": marked,
    "external_url": external_url,
    "path_part": path_part,
    "breakable": breakable,
    "latency": latency,
    "short_id": short_id,
    "number": number,
    "percent": percent,
    "in_words": in_words,
    "capitalized": capitalized,
    "status_kind": status_kind,
    "relative": relative,
    "iso": iso,
    "day": day,
    "utc": units.utc,
    "utc_seconds": utc_seconds,
    "duration": units.duration,
    "sui": units.sui,
}
"""The filters of templates."""
