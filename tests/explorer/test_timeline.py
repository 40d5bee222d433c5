"""Time lines: proportions, cuts of idle time, and times outside the axis."""

from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.explorer.timeline import Mark, Row, Span, draw_timeline

DAY_MS = 86_400_000


def row(*spans):
    return Row("row", tuple(Span(start, end, "ok", "busy") for start, end in spans))


def test_bars_are_proportional_to_their_time():
    line = draw_timeline("times", [row((0, 1_000)), row((1_000, 4_000))], [])
    [first], [second] = (drawn.bars for drawn in line.rows)
    assert (first.x, first.width) == (0, line.width / 4)
    assert (second.x, second.width) == (line.width / 4, line.width * 3 / 4)
    assert line.cuts == ()


def test_long_idle_time_is_cut_out():
    line = draw_timeline("times", [row((0, 1_000), (DAY_MS, DAY_MS + 1_000))], [])
    [cut] = line.cuts
    assert cut.title == "23 h 59 min without activity"
    first, second = line.rows[0].bars
    assert first.width == second.width
    assert first.width > line.width / 3


def test_single_moment_has_a_line():
    line = draw_timeline("times", [], [Mark(5_000, "requested")])
    assert [mark.x for mark in line.marks] == [0]


times = st.integers(0, 2**63)
spans = st.tuples(times, times).map(sorted)


@given(st.lists(st.lists(spans, max_size=3), max_size=5), st.lists(times, min_size=1, max_size=4))
def test_any_times_stay_within_the_axis(rows, marks):
    drawn = [row(*spans) for spans in rows]
    line = draw_timeline("times", drawn, [Mark(time, "mark") for time in marks])
    for mark in line.marks:
        assert 0 <= mark.x <= line.width + 1
    for bar in (bar for found in line.rows for bar in found.bars):
        assert 0 <= bar.x <= line.width + 1
        assert bar.x + bar.width <= line.width + 4
