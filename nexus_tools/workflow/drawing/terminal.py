"""A picture of a workflow in characters, as wide as the terminal and no wider.

A picture that has no room is drawn with names alone; where they have none, it is a list.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from rich.text import Text

from nexus_tools.workflow.document import Document, EdgeKind
from nexus_tools.workflow.drawing.grid import HEADS, LINES, Grid
from nexus_tools.workflow.drawing.picture import (
    DrawnEdge,
    DrawnVertex,
    Phase,
    Picture,
    VertexState,
    picture_of,
)
from nexus_tools.workflow.drawing.text import cells, tail_of
from nexus_tools.workflow.layout import Area, Layout, Point, Size, Spacing

SPACING = Spacing(layers=1, boxes=3, lines=2, lanes=1, ends=1, frame=1, header=0, fineness=16)
MANY_VERTICES = 40
"""Of more, a picture has names alone: it is long enough."""
MAX_TEXT, MAX_NAME, MAX_VARIANT = 36, 20, 14
PHASE_STYLES = {
    Phase.FAILED: "red",
    Phase.RUNNING: "yellow",
    Phase.WAITING: "yellow",
    Phase.SETTLED: "green",
}
PHASE_BORDERS = {Phase.RUNNING: "heavy", Phase.WAITING: "dashed"}

Rows = list[tuple[str, str]]
"""Lines of text, each with its style."""


def draw_terminal(
    document: Document, width: int, states: Mapping[str, VertexState] | None = None
) -> Text:
    """Text for rich, no line of which has more than `width` columns."""
    picture = picture_of(document, states)
    all_rows: list[Callable[[DrawnVertex], Rows]] = [_all_rows, _name_rows]
    for rows in all_rows[len(picture.vertices) > MANY_VERTICES :]:
        labels = {_all_rows: MAX_TEXT, _name_rows: MAX_VARIANT}[rows]
        layout = picture.layout(
            partial(_vertex_size, rows), lambda edge, most=labels: _label_size(edge, most), SPACING
        )
        if layout.size.width < width:
            return _drawn(picture, layout, rows, labels)
    return _list(picture, width)


def _drawn(
    picture: Picture, layout: Layout, rows: Callable[[DrawnVertex], Rows], max_label: int
) -> Text:
    grid = Grid()
    for block, area in zip(picture.blocks, layout.frames, strict=True):
        grid.border(*_place(area), "dashed", "magenta dim")
        grid.text(int(area.left) + 2, int(area.top), f" {block.title} ", "magenta")
    for edge, route in zip(picture.edges, layout.routes, strict=True):
        style = _edge_style(edge)
        _draw_line(grid, route.before, _characters(edge, EdgeKind.COLLECT), style)
        _draw_line(grid, route.after, _characters(edge, EdgeKind.FOR_EACH), style, with_head=True)
        label = tail_of(edge.label, max_label)
        grid.text(int(route.label.left) + 1, int(route.label.top), label, style)
    for vertex, area in zip(picture.vertices, layout.boxes, strict=True):
        _draw_vertex(grid, vertex, area, rows(vertex), has_states=picture.has_states)
    return grid.rendered()


# --- Vertices


def _name_rows(vertex: DrawnVertex) -> Rows:
    rows = [(tail_of(vertex.name, MAX_NAME), "bold")]
    return rows + ([("", "")] if vertex.state and vertex.phase else [])


def _all_rows(vertex: DrawnVertex) -> Rows:
    name, *counts = _name_rows(vertex)
    rows = [(tail_of(vertex.name, MAX_TEXT), name[1])]
    rows.append((vertex.fqn if vertex.is_declared else "not in the document", "dim"))
    if vertex.entries:
        rows.append((f"→ {', '.join(vertex.entries)}", "cyan"))
    rows += [(f"{result} →", "cyan") for result in vertex.results]
    return [(tail_of(text, MAX_TEXT), style) for text, style in rows] + counts


def _counts(vertex: DrawnVertex) -> Rows:
    counts = vertex.state.counts() if vertex.state else ()
    return [(f"{phase.symbol} {count}", PHASE_STYLES[phase]) for phase, count in counts]


def _badge(vertex: DrawnVertex) -> str:
    return " on chain " if vertex.is_on_chain else ""


def _vertex_size(rows: Callable[[DrawnVertex], Rows], vertex: DrawnVertex) -> Size:
    texts = [text for text, _ in rows(vertex)]
    texts.append(" ".join(text for text, _ in _counts(vertex)))
    width = max(*map(cells, texts), len(_badge(vertex)), 5) + 4
    # Lines meet the middle of a box: an odd width has one.
    return Size(width + 1 - width % 2, len(rows(vertex)) + 2)


def _draw_vertex(
    grid: Grid, vertex: DrawnVertex, area: Area, rows: Rows, *, has_states: bool
) -> None:
    left, top, width, height = _place(area)
    grid.blank(left, top, width, height)
    kind = "double" if vertex.is_on_chain else "round" if vertex.is_declared else "dashed"
    style = "blue" if vertex.is_on_chain else "" if vertex.is_declared else "red"
    if vertex.phase:
        kind, style = PHASE_BORDERS.get(vertex.phase, kind), PHASE_STYLES[vertex.phase]
    elif has_states:
        style = f"{style} dim".strip()
    grid.border(left, top, width, height, kind, style)
    grid.text(left + 2, top, _badge(vertex), style)
    for row, (text, text_style) in enumerate(rows, top + 1):
        grid.text(left + 2, row, text, text_style)
    for text, text_style in _counts(vertex):
        grid.text(left + 2, top + height - 2, text, text_style)
        left += len(text) + 1


# --- Edges


def _label_size(edge: DrawnEdge, most: int) -> Size:
    width = cells(tail_of(edge.label, most)) + 2
    return Size(width + 1 - width % 2, 1)


def _edge_style(edge: DrawnEdge) -> str:
    if edge.is_error:
        return "red"
    return "magenta" if edge.kind is EdgeKind.DO_WHILE else ""


def _characters(edge: DrawnEdge, kind_of_many: EdgeKind) -> str:
    """Which characters a half of a line has: what is there many times is drawn heavy."""
    if edge.kind is kind_of_many:
        return "heavy"
    if edge.is_error:
        return "dashed"
    return "dotted" if edge.kind is EdgeKind.STATIC else "light"


def _draw_line(
    grid: Grid, points: tuple[Point, ...], kind: str, style: str, *, with_head: bool = False
) -> None:
    places = [(int(point.x), int(point.y)) for point in points]
    # Boxes begin at the line that they have above them, and end before the one below.
    is_down = points[0].y < points[-1].y
    last = 0 if not is_down else -1
    places[0] = (places[0][0], places[0][1] - (0 if is_down else 1))
    places[-1] = (places[-1][0], places[-1][1] + last)
    grid.line(places, LINES[kind], style, is_down=is_down)
    if with_head:
        grid.text(*places[-1], HEADS[is_down], style)


def _place(area: Area) -> tuple[int, int, int, int]:
    """Column, row, columns and rows."""
    left, top = int(area.left), int(area.top)
    return left, top, int(area.right) - left, int(area.bottom) - top


# --- The list


def _list(picture: Picture, width: int) -> Text:
    """A line for each vertex, and below it one for each of its edges."""
    text = Text(no_wrap=True, overflow="ignore", end="")
    outgoing: dict[int, list[DrawnEdge]] = {}
    for edge in picture.edges:
        outgoing.setdefault(edge.source, []).append(edge)
    for number, vertex in enumerate(picture.vertices):
        _add_line(text, [*_listed_vertex(picture, vertex)], width)
        edges = outgoing.get(number, [])
        for edge in edges:
            branch = "└─ " if edge is edges[-1] else "├─ "
            target = picture.vertices[edge.target].name
            ports = edge.port_text(width)
            parts = [(branch, "dim"), (edge.label, _edge_style(edge)), (f" → {target}", "")]
            _add_line(text, [*parts, (f"  {ports}", "dim")], width)
    return text


def _listed_vertex(picture: Picture, vertex: DrawnVertex) -> Iterator[tuple[str, str]]:
    yield vertex.name, "bold"
    for count, style in _counts(vertex):
        yield f"  {count}", style
    yield f"  {vertex.fqn}" if vertex.is_declared else "  not in the document", "dim"
    if vertex.is_on_chain:
        yield "  on chain", "blue"
    if vertex.entries:
        yield f"  → {', '.join(vertex.entries)}", "cyan"
    for result in vertex.results:
        yield f"  {result} →", "cyan"
    block = vertex.block
    while block is not None:
        yield f"  {picture.blocks[block].title}", "magenta"
        block = picture.blocks[block].parent


def _add_line(text: Text, parts: list[tuple[str, str]], width: int) -> None:
    line = Text.assemble(*parts)
    line.truncate(width, overflow="ellipsis")
    text.append_text(line).append("\n")
