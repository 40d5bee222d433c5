"""The geometry of time lines, from which idle time is cut out.

A time line has a row for each window or run. Times in which no row has a bar and no mark are idle.
A long idle time gets a fixed width, so that short activities stay visible.
"""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from nexus_tools.sui.support.units import duration, format_utc_seconds

_WIDTH = 720.0
_CUT_WIDTH = 26.0
_CUT_SHARE = 0.25
"""The share of the busy time above which an idle time is cut out."""
_MIN_CUT_MS = 5_000
_MIN_BAR = 3.0
_ROW_HEIGHT = 26.0
_TOP = 20.0
_TICKS = 4


class Span(Struct, frozen=True):
    """The time of an activity. `name` is a class of the stylesheet, and `title` describes it."""

    start_ms: int
    end_ms: int
    name: str
    title: str


class Row(Struct, frozen=True):
    """A row of a time line: its label, the link of the label or None, and its activities."""

    label: str
    spans: tuple[Span, ...]
    href: str | None = None


class Mark(Struct, frozen=True):
    """A moment that a vertical line marks."""

    at_ms: int
    title: str
    name: str = "mark"


class DrawnBar(Struct, frozen=True):
    """A bar in the coordinates of the view box."""

    x: float
    width: float
    name: str
    title: str


class DrawnRow(Struct, frozen=True):
    """A row with its vertical position."""

    y: float
    label: str
    href: str | None
    bars: tuple[DrawnBar, ...]


class DrawnMark(Struct, frozen=True):
    """A vertical line."""

    x: float
    title: str
    name: str


class Tick(Struct, frozen=True):
    """A time on the axis, relative to the start, with its alignment for SVG."""

    x: float
    label: str
    anchor: str


class Cut(Struct, frozen=True):
    """A part of the axis from which idle time was cut out."""

    x: float
    width: float
    title: str


class Timeline(Struct, frozen=True):
    """A drawn time line, in the coordinates of its view box."""

    title: str
    width: float
    height: float
    rows: tuple[DrawnRow, ...]
    marks: tuple[DrawnMark, ...]
    cuts: tuple[Cut, ...]
    ticks: tuple[Tick, ...]


class _Segment(Struct, frozen=True):
    """A part of the axis with a constant scale."""

    start_ms: int
    end_ms: int
    x: float
    width: float
    is_cut: bool


def draw_timeline(title: str, rows: Sequence[Row], marks: Sequence[Mark]) -> Timeline:
    """Return a time line. There must be at least one activity or mark."""
    segments = _segments(rows, marks)
    start_ms = segments[0].start_ms

    def place(time_ms: int) -> float:
        return _place(segments, time_ms)

    drawn = tuple(
        DrawnRow(
            _TOP + number * _ROW_HEIGHT,
            row.label,
            row.href,
            tuple(
                DrawnBar(
                    place(span.start_ms),
                    round(max(_MIN_BAR, place(span.end_ms) - place(span.start_ms)), 1),
                    span.name,
                    span.title,
                )
                for span in row.spans
            ),
        )
        for number, row in enumerate(rows)
    )
    return Timeline(
        title,
        _WIDTH,
        _TOP + _ROW_HEIGHT * len(rows) + 18,
        drawn,
        tuple(DrawnMark(place(mark.at_ms), mark.title, mark.name) for mark in marks),
        tuple(
            Cut(
                round(segment.x, 1),
                round(segment.width, 1),
                f"{duration(segment.end_ms - segment.start_ms)} without activity",
            )
            for segment in segments
            if segment.is_cut
        ),
        _ticks(segments, start_ms),
    )


def _segments(rows: Sequence[Row], marks: Sequence[Mark]) -> tuple[_Segment, ...]:
    """Return the parts of the axis: busy times in proportion, and cuts with a fixed width."""
    spans = [(span.start_ms, span.end_ms) for row in rows for span in row.spans]
    spans += [(mark.at_ms, mark.at_ms) for mark in marks]
    busy: list[list[int]] = []
    for start_ms, end_ms in sorted(spans):
        if busy and start_ms <= busy[-1][1]:
            busy[-1][1] = max(busy[-1][1], end_ms)
        else:
            busy.append([start_ms, end_ms])
    total_ms = sum(end_ms - start_ms for start_ms, end_ms in busy)
    limit_ms = max(_MIN_CUT_MS, _CUT_SHARE * total_ms)
    parts: list[tuple[int, int, bool]] = []
    for (start_ms, end_ms), (next_ms, _) in pairwise(busy):
        parts.append((start_ms, end_ms, False))
        parts.append((end_ms, next_ms, next_ms - end_ms > limit_ms))
    parts.append((busy[-1][0], busy[-1][1], False))
    cuts = sum(is_cut for _, _, is_cut in parts)
    shown_ms = sum(end_ms - start_ms for start_ms, end_ms, is_cut in parts if not is_cut)
    scale = max(_WIDTH - cuts * _CUT_WIDTH, _WIDTH / 2) / max(shown_ms, 1)
    cut_width = min(_CUT_WIDTH, _WIDTH / 2 / max(cuts, 1))
    segments, x = [], 0.0
    for start_ms, end_ms, is_cut in parts:
        width = cut_width if is_cut else scale * (end_ms - start_ms)
        segments.append(_Segment(start_ms, end_ms, x, width, is_cut))
        x += width
    return tuple(segments)


def _place(segments: Sequence[_Segment], time_ms: int) -> float:
    """Return the horizontal position of a time. Times outside the axis are moved to its ends."""
    for segment in segments:
        if time_ms <= segment.end_ms:
            length_ms = max(segment.end_ms - segment.start_ms, 1)
            share = max(0, time_ms - segment.start_ms) / length_ms
            return round(segment.x + share * segment.width, 1)
    last = segments[-1]
    return round(last.x + last.width, 1)


def _ticks(segments: Sequence[_Segment], start_ms: int) -> tuple[Tick, ...]:
    """Return the labels of the axis: its start and end, and times between them."""
    end = segments[-1]
    width = end.x + end.width
    ticks = [Tick(0.0, format_utc_seconds(start_ms)[11:], "start")]
    if width < _WIDTH / 4:
        return tuple(ticks)
    for number in range(1, _TICKS + 1):
        x = width * number / _TICKS
        segment = next(item for item in segments if x <= item.x + item.width + 0.01)
        if segment.is_cut and number < _TICKS:
            continue
        share = 0.0 if not segment.width else (x - segment.x) / segment.width
        time_ms = segment.start_ms + share * (segment.end_ms - segment.start_ms)
        anchor = "end" if number == _TICKS else "middle"
        ticks.append(Tick(round(x, 1), f"+{duration(round(time_ms - start_ms))}", anchor))
    return tuple(ticks)
