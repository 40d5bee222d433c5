"""Properties of every layout. The caller sets the sizes, and the library sets the positions."""

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.workflow.drawing.layout import Area, Box, Line, Size, Spacing, lay_out

PIXELS = Spacing(layers=12, boxes=26, lines=18, lanes=8, ends=9, frame=12, header=14)
CHARACTERS = Spacing(layers=1, boxes=3, lines=2, lanes=1, ends=1, frame=1, header=0, fineness=16)
UNITS = [(PIXELS, 8), (CHARACTERS, 1)]
"""The spacings of the renderers, each with the size of its smallest element."""


@st.composite
def graphs(draw):
    """Boxes in an order, lines forward, lines back, and frames around boxes that follow each other.

    As in workflows, no line comes back to a frame that it left, those back stay in their frame, and
    what is in a frame hangs together.
    """
    count = draw(st.integers(1, 9))
    frames = draw(st.sampled_from(([], [None], [None, 0], [None, None])))
    marks = sorted(draw(st.lists(st.integers(0, count), min_size=4, max_size=4)))
    inside = [frame_of(number, marks, frames) for number in range(count)]
    boxes = [(draw(st.integers(3, 20)), draw(st.integers(2, 5)), frame) for frame in inside]
    ends = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=14))
    lines = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    for number, frame in enumerate(inside):
        before = [each for each in range(number) if {0, 1} >= {inside[each], frame}]
        if before and (frames == [None, 0] or inside[before[-1]] == frame):
            before = [each for each in before if frames == [None, 0] or inside[each] == frame]
            lines.append((draw(st.sampled_from(before)), number))
    round_about = [(end, start) for start, end in lines if inside[start] == inside[end]]
    back = draw(st.lists(st.sampled_from(round_about), max_size=2)) if round_about else []
    return boxes, lines, back, frames


def frame_of(number, marks, frames):
    """The innermost frame of a box: one ends where the other begins, or is around it."""
    first, second, third, fourth = marks
    if frames == [None, 0]:
        return 1 if second <= number < third else 0 if first <= number < fourth else None
    if first <= number < second:
        return 0 if frames else None
    return 1 if len(frames) > 1 and third <= number < fourth else None


def layout_of(graph, spacing, unit):
    boxes, lines, back, frames = graph
    return lay_out(
        [Box(Size(width * unit, height * unit), frame) for width, height, frame in boxes],
        [
            *(Line(*ends, Size(5 * unit, unit)) for ends in lines),
            *(Line(*ends, Size(5 * unit, unit), is_back=True) for ends in back),
        ],
        frames,
        spacing,
    )


def overlap(one, other):
    return (
        min(one.right, other.right) - max(one.left, other.left) > 0.01
        and min(one.bottom, other.bottom) - max(one.top, other.top) > 0.01
    )


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_boxes_and_labels_do_not_overlap(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    areas = [*layout.boxes, *(route.label for route in layout.routes)]
    assert [pair for pair in combinations(areas, 2) if overlap(*pair)] == []


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_boxes_have_the_sizes_that_were_asked_for_within_the_size_of_all(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    assert [(area.width, area.height) for area in layout.boxes] == [
        pytest.approx((width * unit, height * unit)) for width, height, _ in graph[0]
    ]
    for area in layout.boxes:
        assert min(area.left, area.top) >= -0.01
        assert area.right <= layout.size.width + 0.01
        assert area.bottom <= layout.size.height + 0.01


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_lines_connect_boxes_and_labels_at_right_angles(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    for (source, target), route in zip([*graph[1], *graph[2]], layout.routes, strict=True):
        for point, area in (
            (route.before[0], layout.boxes[source]),
            (route.before[-1], route.label),
            (route.after[0], route.label),
            (route.after[-1], layout.boxes[target]),
        ):
            assert area.left - 0.01 <= point.x <= area.right + 0.01
            assert point.y == pytest.approx(area.top) or point.y == pytest.approx(area.bottom)
        for one, other in (*pairwise(route.before), *pairwise(route.after)):
            assert one.x == pytest.approx(other.x) or one.y == pytest.approx(other.y)


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_lines_go_down_and_those_back_go_up(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    down, up = layout.routes[: len(graph[1])], layout.routes[len(graph[1]) :]
    for route in down:
        heights = [point.y for point in (*route.before, *route.after)]
        assert heights == sorted(heights)
    for route in up:
        assert route.before[0].y > route.after[-1].y


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_lines_are_straight_next_to_boxes(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    for route in layout.routes:
        for end, before in ((route.before[0], route.before[1]), route.after[:-3:-1]):
            assert end.x == pytest.approx(before.x)
            assert abs(end.y - before.y) >= spacing.ends - 0.01


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_no_line_goes_through_a_box_or_the_label_of_another(graph, spacing, unit):
    layout = layout_of(graph, spacing, unit)
    for number, route in enumerate(layout.routes):
        labels = [each.label for other, each in enumerate(layout.routes) if other != number]
        for one, other in (*pairwise(route.before), *pairwise(route.after)):
            way = Area(
                min(one.x, other.x), min(one.y, other.y), abs(one.x - other.x), abs(one.y - other.y)
            )
            assert [area for area in (*layout.boxes, *labels) if crosses(way, area)] == []


def crosses(way, area):
    return (
        way.left < area.right - 0.01
        and way.right > area.left + 0.01
        and way.top < area.bottom - 0.01
        and way.bottom > area.top + 0.01
    )


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
@given(graph=graphs())
def test_frames_contain_exactly_their_boxes(graph, spacing, unit):
    boxes, _, _, frames = graph
    layout = layout_of(graph, spacing, unit)
    for number, frame in enumerate(layout.frames):
        inside = [number in {*frames_around(at, frames)} for *_, at in boxes]
        for is_inside, area in zip(inside, layout.boxes, strict=True):
            if is_inside:
                assert frame.left < area.left
                assert area.right < frame.right
                assert frame.top < area.top
                assert area.bottom < frame.bottom
            elif any(inside):
                assert not overlap(frame, area)


def frames_around(frame, frames):
    while frame is not None:
        yield frame
        frame = frames[frame]


@pytest.mark.parametrize(("spacing", "unit"), UNITS)
def test_lines_from_both_sides_into_a_box_do_not_cross(spacing, unit):
    # A payment after a question, or one without: both lead to the loop of box 5.
    sizes = [(29, 4, 0), (29, 5, None), (31, 6, None), (27, 5, None), (27, 5, None), (29, 5, 1)]
    lines = [(0, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5)]
    layout = layout_of((sizes, lines, [(5, 5)], [None, None]), spacing, unit)
    pairs = product(pairwise(layout.routes[5].after), pairwise(layout.routes[6].after))
    assert [pair for pair in pairs if crosses(way_of(*pair[0]), way_of(*pair[1]))] == []


def way_of(one, other):
    """A part of a line, as wide as it has to be to cross another."""
    left, top = min(one.x, other.x), min(one.y, other.y)
    return Area(left - 0.1, top - 0.1, abs(one.x - other.x) + 0.2, abs(one.y - other.y) + 0.2)


@given(graph=graphs())
def test_layout_is_deterministic(graph):
    assert layout_of(graph, PIXELS, 8) == layout_of(graph, PIXELS, 8)


def test_empty_graph_has_an_empty_layout():
    assert lay_out([], [], [], PIXELS).size == Size(0, 0)


def test_single_box_is_at_the_origin():
    layout = lay_out([Box(Size(40, 20))], [], [], PIXELS)
    assert layout.boxes == (Area(0, 1, 40, 20),)
    assert layout.size == Size(40, 22)


def test_line_from_a_box_to_itself_is_drawn():
    layout = lay_out([Box(Size(40, 20))], [Line(0, 0, Size(10, 5), is_back=True)], [], PIXELS)
    (route,) = layout.routes
    ends = {route.before[0].y, route.after[-1].y}
    assert ends <= {layout.boxes[0].top, layout.boxes[0].bottom}
    assert not overlap(route.label, layout.boxes[0])


def test_equal_branches_are_side_by_side_in_their_order():
    sizes = [Box(Size(40, 20))] * 5
    label = Size(10, 5)
    fork = [Line(0, branch, label) for branch in (1, 2, 3)]
    join = [Line(branch, 4, label) for branch in (1, 2, 3)]
    first, *branches, last = lay_out(sizes, [*fork, *join], [], PIXELS).boxes
    assert len({area.top for area in branches}) == 1
    assert branches[0].right < branches[1].left < branches[1].right < branches[2].left
    assert first.left == branches[1].left == last.left


@pytest.mark.parametrize("count", [2, 5, 9])
def test_branches_with_several_lines_keep_the_order_of_their_first_line(count):
    branches = range(1, count + 1)
    fork = [Line(0, branch, Size(10 * branch, 5)) for branch in branches]
    join = [Line(branch, count + 1, Size(10, 5)) for branch in branches]
    more = [Line(0, branch, Size(10, 5)) for branch in branches if branch % 3]
    _, *areas, _ = lay_out(
        [Box(Size(40, 20))] * (count + 2), [*fork, *join, *more], [], PIXELS
    ).boxes
    lefts = [area.left for area in areas]
    assert lefts == sorted(lefts)
