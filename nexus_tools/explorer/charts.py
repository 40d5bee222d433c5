"""The geometry of charts, which templates draw as SVG with classes of the stylesheet."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from nexus_tools.explorer.formatting import day, number
from nexus_tools.index import DayStats

DAY_MS = 86_400_000
_WIDTH, _HEIGHT = 720.0, 140.0
_GAP = 2.0
_MIN_BAR = 2.0
"""The height of a bar with a small value, so that it stays visible."""


class Bar(Struct, frozen=True):
    """One bar of a chart, in the coordinates of its view box, with its values as text.

    `parts` are the heights of stacked parts with their classes, from the bottom.
    """

    x: float
    width: float
    label: str
    value: str
    parts: tuple["BarPart", ...]


class BarPart(Struct, frozen=True):
    """A part of a bar. `name` is the class of the part, such as `settled`."""

    name: str
    y: float
    height: float


class BarChart(Struct, frozen=True):
    """A bar chart with the days of a period on the horizontal axis.

    `top` is the largest value as text. `title` describes the chart for screen readers. `names` are
    the classes of the parts, which the legend shows.
    """

    title: str
    width: float
    height: float
    bars: tuple[Bar, ...]
    top: str
    first: str
    last: str
    names: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no bar has a value."""
        return not any(bar.parts for bar in self.bars)


class Series(Struct, frozen=True):
    """A value of each day that a chart stacks. `name` is the class of its parts."""

    name: str
    value: Callable[[DayStats], int]


def call_chart(days: Sequence[DayStats], now_ms: int) -> BarChart:
    """Return the chart of settled and other closings per day."""
    series = (
        Series("settled", lambda day: day.performance.settled),
        Series("failed", lambda day: day.performance.closed - day.performance.settled),
    )
    return day_chart("Closed invocations per day", days, now_ms, series, number)


def day_chart(
    title: str,
    days: Sequence[DayStats],
    now_ms: int,
    series: Sequence[Series],
    format_value: Callable[[int], str],
    *,
    period: int = 30,
    height: float = _HEIGHT,
) -> BarChart:
    """Return the chart of the last `period` days. Days without closings have no bar."""
    known = {stats.start_ms // DAY_MS: stats for stats in days}
    periods = range(now_ms // DAY_MS - period + 1, now_ms // DAY_MS + 1)
    totals = {start: sum(s.value(stats) for s in series) for start, stats in known.items()}
    top = max((totals.get(start, 0) for start in periods), default=0)
    step = _WIDTH / period
    bars = tuple(
        Bar(
            round(place * step + _GAP / 2, 2),
            round(step - _GAP, 2),
            day(start * DAY_MS),
            format_value(totals.get(start, 0)),
            _parts(known.get(start), series, top, height),
        )
        for place, start in enumerate(periods)
    )
    return BarChart(
        title,
        _WIDTH,
        height,
        bars,
        format_value(top),
        bars[0].label,
        bars[-1].label,
        tuple(item.name for item in series),
    )


def _parts(
    stats: DayStats | None, series: Sequence[Series], top: int, height: float
) -> tuple[BarPart, ...]:
    parts: list[BarPart] = []
    bottom = height
    for item in series:
        value = 0 if stats is None else item.value(stats)
        if value:
            size = max(_MIN_BAR, height * value / top)
            bottom -= size
            parts.append(BarPart(item.name, round(max(0.0, bottom), 2), round(size, 2)))
    return tuple(parts)
