"""The layout of boxes and lines of a drawing, in layers from top to bottom.

The library graphlay computes the layout, which is deterministic. Only this module uses the library.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, permutations
from typing import Any

import graphlay

_BENT = 3
"""The minimum number of points of a line that has a horizontal part before its vertical end."""


@dataclass(frozen=True, slots=True)
class Size:
    """A width and a height, in units of the caller: pixels or characters."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Point:
    """A position, as the distances from the left edge and from the top edge."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle, given by its upper left corner and its size."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The bottom edge."""
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the drawing. `frame` is the number of the frame that contains the box."""

    size: Size
    frame: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A labelled line between two boxes, by their numbers. If `is_back`, the line goes upwards."""

    source: int
    target: int
    label: Size
    is_back: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """The points of a line, from its start to its label, and from the label to its end.

    `label` is the area of the label.
    """

    before: tuple[Point, ...]
    label: Area
    after: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Spacing:
    """The minimum distances, in units of the caller.

    `fineness` is the number of library units in one unit of the caller. The library finally moves
    boxes by a few of its own units, so the units must be small.
    """

    layers: float
    boxes: float
    lines: float
    lanes: float
    """The distance between horizontal lines, and between a horizontal line and a frame."""
    ends: float
    """The length of the straight part with which a line ends at a box."""
    frame: float
    """The distance between a frame and its contents."""
    header: float
    """The additional height at the top of a frame, for its title."""
    fineness: float = 1.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of boxes, frames and lines, in the order in which they were passed."""

    size: Size
    boxes: tuple[Area, ...]
    frames: tuple[Area, ...]
    routes: tuple[Route, ...]


def lay_out(
    boxes: Sequence[Box],
    lines: Sequence[Line],
    frames: Sequence[int | None],
    spacing: Spacing,
) -> Layout:
    """Return the layout of boxes and lines. `frames` has the parent of each frame.

    Labels are passed to the library as boxes, so that nothing covers a label.
    """
    if not boxes:
        return Layout(Size(0, 0), (), (Area(0, 0, 0, 0),) * len(frames), ())
    fine = spacing.fineness
    order = _side_by_side(lines)
    drawn = [lines[number] for number in order]
    nodes = [*_nodes(boxes, drawn, frames, spacing)]
    graph = {"nodes": nodes, "edges": [*_edges(boxes, drawn)]}
    found = graphlay.layout(graph, options=_options(spacing)).raw
    # The margins reserve space for ends of lines, but the drawing does not need this space.
    rim = min(spacing.ends, spacing.lanes) * fine
    left, top = found["bounds"]["min"]["x"], found["bounds"]["min"]["y"] + rim
    right, bottom = found["bounds"]["max"]["x"], found["bounds"]["max"]["y"] - rim

    def point(raw: Any) -> Point:
        return Point((raw["x"] - left) / fine, (raw["y"] - top) / fine)

    def area(node: Any) -> Area:
        middle = point(node["center"])
        width, height = node["size"]["width"] / fine, node["size"]["height"] / fine
        return Area(middle.x - width / 2, middle.y - height / 2, width, height)

    areas = [area(node) for node in found["nodes"]]
    ways = [_squared([point(raw) for raw in edge["points"]]) for edge in found["edges"]]
    labels = areas[len(boxes) : len(boxes) + len(lines)]
    ends = spacing.ends
    routes = {
        number: Route(_longer(before[::-1], ends)[::-1], label, _longer(after, ends))
        for number, before, label, after in zip(order, ways[::2], labels, ways[1::2], strict=True)
    }
    _uncross(routes, lines)
    return Layout(
        Size((right - left) / fine, (bottom - top) / fine),
        tuple(_lower(box, ends) for box in areas[: len(boxes)]),
        tuple(_lower(frame, spacing.lanes) for frame in areas[len(boxes) + len(lines) :]),
        tuple(routes[number] for number in range(len(lines))),
    )


def _side_by_side(lines: Sequence[Line]) -> list[int]:
    """Return the numbers of the lines in an order that groups lines between the same two boxes.

    Without this order, the library may reorder the boxes of later lines.
    """
    first: dict[tuple[int, int], int] = {}
    for number, line in enumerate(lines):
        first.setdefault((line.source, line.target), number)
    return sorted(
        range(len(lines)), key=lambda number: first[lines[number].source, lines[number].target]
    )


def _lower(area: Area, gap: float) -> Area:
    """Return the area reduced by a gap above and below."""
    return Area(area.left, area.top + gap, area.width, area.height - 2 * gap)


def _squared(way: Sequence[Point]) -> tuple[Point, ...]:
    """Return the line with exact right angles.

    The library may deviate from right angles by a third of its unit.
    """
    found = [way[0]]
    for point in way[1:]:
        last = found[-1]
        upright = abs(point.x - last.x) < abs(point.y - last.y)
        found.append(Point(last.x, point.y) if upright else Point(point.x, last.y))
    return tuple(found)


def _longer(way: tuple[Point, ...], gap: float) -> tuple[Point, ...]:
    """Return the line with its end extended by a gap, upwards or downwards."""
    *rest, end = way
    further = gap if rest[-1].y < end.y else -gap
    return (*rest, Point(end.x, end.y + further))


def _uncross(routes: dict[int, Route], lines: Sequence[Line]) -> None:
    """Swap the ends of two lines that would cross directly before the box that both lines reach.

    The library orders the lines of a box before it assigns the positions of boxes in other layers.
    """
    bent: defaultdict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if not line.is_back and len(routes[number].after) >= _BENT:
            bent[line.target].append(number)
    for one, other in chain.from_iterable(permutations(numbers, 2) for numbers in bent.values()):
        left, right = routes[one].after, routes[other].after
        if left[-3].x < right[-1].x < left[-1].x < right[-3].x:
            routes[one] = replace(routes[one], after=_ending(left, right[-1].x))
            routes[other] = replace(routes[other], after=_ending(right, left[-1].x))


def _ending(way: tuple[Point, ...], x: float) -> tuple[Point, ...]:
    """Return the line with its last vertical part moved to `x`."""
    *rest, bend, end = way
    return (*rest, Point(x, bend.y), Point(x, end.y))


def _nodes(
    boxes: Sequence[Box], lines: Sequence[Line], frames: Sequence[int | None], spacing: Spacing
) -> Iterator[dict[str, Any]]:
    """Yield the nodes of the boxes, the labels and the frames, in the order of their numbers."""
    fine, ends = spacing.fineness, spacing.ends
    sizes = [Size(box.size.width, box.size.height + 2 * ends) for box in boxes]
    sizes += [line.label for line in lines]
    sizes += [Size(1, 1)] * len(frames)  # The library enlarges frames as needed.
    parents = [*(box.frame for box in boxes), *_frames_of_labels(boxes, lines, frames), *frames]
    for size, parent in zip(sizes, parents, strict=True):
        node: dict[str, Any] = {
            "size": {"width": size.width * fine, "height": size.height * fine},
        }
        if parent is not None:
            node["parent"] = len(boxes) + len(lines) + parent
        yield node


def _frames_of_labels(
    boxes: Sequence[Box], lines: Sequence[Line], frames: Sequence[int | None]
) -> Iterator[int | None]:
    """Yield for each line the innermost frame that contains both of its ends."""

    def around(frame: int | None) -> Iterator[int | None]:
        while frame is not None:
            yield frame
            frame = frames[frame]
        yield None

    for line in lines:
        of_source = set(around(boxes[line.source].frame))
        yield next(frame for frame in around(boxes[line.target].frame) if frame in of_source)


def _edges(boxes: Sequence[Box], lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    """Yield each line as two halves, which end at the label's middle from above and from below."""
    for label, line in enumerate(lines, len(boxes)):
        above, below = (
            {"offset": {"side": side, "t": 0.0}}
            for side in (("bottom", "top") if line.is_back else ("top", "bottom"))
        )
        back = {"reverse_for_ranking": line.is_back}
        yield {"source": line.source, "target": label, "target_port": above, **back}
        yield {"source": label, "target": line.target, "source_port": below, **back}


def _options(spacing: Spacing) -> dict[str, Any]:
    fine = spacing.fineness
    return {
        "direction": "topbottom",
        "spacing": {
            "layer_gap": spacing.layers * fine,
            "node_gap": spacing.boxes * fine,
            "dummy_gap": spacing.lines * fine,
            "port_gap": spacing.lines * fine,
            "bundle_lane_gap": spacing.lanes * fine,
            "isolated_gap": spacing.boxes * fine,
            "compound_padding": (spacing.frame + spacing.lanes) * fine,
            "compound_header": spacing.header * fine,
        },
        "routing": {
            "style": "orthogonal",
            "lane_gap": spacing.lanes * fine,
            "port_sides": "facing_only",
            "centre_ports": "off",
        },
        "coords": {"placement": "brandes_koepf", "branch_style": "symmetric"},
        "tuning": {
            # A line ends at the middle of its label, and at its assigned point of a box.
            "routing": {"port_relax_rounds": 0, "endpoint_snap": 0},
            # Keep the order of the document from left to right, unless the order causes crossings.
            "order": {"balance_rounds": 0},
        },
    }
