"""The terminal drawing of a workflow in characters, at most as wide as the terminal.

If the drawing is too wide or its lines overlap, it is drawn again with less detail. First its texts
are shortened, then only names are shown. If even this fails, the result is a list, because a list
is better than a misleading drawing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from rich.text import Text

from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.drawing.grid import BORDERS, HEADS, LINES, Grid, Rectangle
from nexus_tools.workflow.drawing.layout import Area, Layout, Point, Size, Spacing
from nexus_tools.workflow.drawing.picture import (
    DrawnEdge,
    DrawnVertex,
    Phase,
    Picture,
    VertexState,
    create_picture,
)
from nexus_tools.workflow.drawing.text import cells, truncate_end, truncate_start

SPACING = Spacing(layers=1, boxes=3, lines=2, lanes=1, ends=1, frame=1, header=0, fineness=16)
TIGHT = replace(SPACING, boxes=1, lines=1)
MANY_VERTICES, TOO_MANY_VERTICES = 40, 250
"""Above the first number of vertices, only names are drawn. Above the second, a list is shown.
"""
MAX_TEXT, MAX_SHORT_TEXT, MAX_VARIANT = 36, 20, 14
PHASE_STYLES = {
    Phase.FAILED: "red",
    Phase.RUNNING: "yellow",
    Phase.WAITING: "yellow",
    Phase.SETTLED: "green",
}
PHASE_BORDERS = {Phase.RUNNING: "heavy", Phase.WAITING: "dashed"}

Rows = list[tuple[str, str]]
"""Lines of text, each with its style."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """A level of detail: the rows of a vertex, the maximum length of texts, and the spacing."""

    all_rows: Callable[[DrawnVertex, int], Rows]
    max_text: int
    spacing: Spacing = SPACING

    def rows(self, vertex: DrawnVertex) -> Rows:
        return self.all_rows(vertex, self.max_text) + ([("", "")] if vertex.state else [])

    def vertex_size(self, vertex: DrawnVertex) -> Size:
        rows = self.rows(vertex)
        texts = [*(text for text, _ in rows), " ".join(text for text, _ in _counts(vertex))]
        width = max(*map(cells, texts), len(_badge(vertex)), 5) + 4
        # Lines end at the middle of a box, so the width must be odd.
        return Size(width + 1 - width % 2, len(rows) + 2)

    def label(self, edge: DrawnEdge) -> str:
        return truncate_end(edge.label, self.max_text)

    def label_size(self, edge: DrawnEdge) -> Size:
        width = cells(self.label(edge)) + 2
        return Size(width + 1 - width % 2, 1)


def draw_terminal(
    document: Document, width: int, states: Mapping[str, VertexState] | None = None
) -> Text:
    """Return a `rich` text whose lines have at most `width` columns.

    `states` color the vertices by the phases of their runs.
    """
    picture = create_picture(document, states)
    few = len(picture.vertices) <= MANY_VERTICES
    details = [_Detail(_all_rows, MAX_TEXT), _Detail(_all_rows, MAX_SHORT_TEXT)] if few else []
    if len(picture.vertices) <= TOO_MANY_VERTICES:
        details += [_Detail(_name_row, MAX_VARIANT), _Detail(_name_row, MAX_VARIANT, TIGHT)]
    for detail in details:
        layout = picture.layout(detail.vertex_size, detail.label_size, detail.spacing)
        grid = _drawn(picture, layout, detail)
        text = grid.rendered()
        if not grid.has_overlaps and all(cells(line) <= width for line in text.plain.split("\n")):
            return text
    return _list(picture, width)


def _drawn(picture: Picture, layout: Layout, detail: _Detail) -> Grid:
    grid = Grid()
    for block, area in zip(picture.blocks, layout.frames, strict=True):
        room = _room(area)
        grid.border(room, BORDERS["dashed"], "magenta dim")
        grid.text(room.column + 2, room.row, f" {block.title} ", "magenta")
    for edge, route in zip(picture.edges, layout.routes, strict=True):
        style = _edge_style(edge)
        _draw_line(grid, route.before, _characters(edge, EdgeKind.COLLECT), style)
        end, head = _draw_line(grid, route.after, _characters(edge, EdgeKind.FOR_EACH), style)
        grid.text(*end, head, style)
        label = _room(route.label)
        grid.text(label.column + 1, label.row, detail.label(edge), style)
    for vertex, area in zip(picture.vertices, layout.boxes, strict=True):
        _draw_vertex(grid, vertex, _room(area), detail.rows(vertex))
    return grid


def _room(area: Area) -> Rectangle:
    left, top = int(area.left), int(area.top)
    return Rectangle(left, top, round(area.width), round(area.height))


# --- Vertices


def _name_row(vertex: DrawnVertex, most: int) -> Rows:
    return [(truncate_end(vertex.name, most), "bold")]


def _all_rows(vertex: DrawnVertex, most: int) -> Rows:
    rows = _name_row(vertex, most)
    rows.append(
        (truncate_start(vertex.fqn, most) if vertex.is_declared else "not in the document", "dim")
    )
    if vertex.entries:
        rows.append((truncate_end(f"→ {', '.join(vertex.entries)}", most), "cyan"))
    return [*rows, *((f"{truncate_end(result, most - 2)} →", "cyan") for result in vertex.results)]


def _counts(vertex: DrawnVertex) -> Rows:
    return [(f"{phase.symbol} {count}", PHASE_STYLES[phase]) for phase, count in vertex.counts()]


def _badge(vertex: DrawnVertex) -> str:
    return " on chain " if vertex.is_on_chain else ""


def _draw_vertex(grid: Grid, vertex: DrawnVertex, room: Rectangle, rows: Rows) -> None:
    kind = "double" if vertex.is_on_chain else "round" if vertex.is_declared else "dashed"
    style = "blue" if vertex.is_on_chain else "" if vertex.is_declared else "red"
    if vertex.phase:
        kind, style = PHASE_BORDERS.get(vertex.phase, kind), PHASE_STYLES[vertex.phase]
    elif vertex.state:
        style = f"{style} dim".strip()
    grid.blank(room)
    grid.border(room, BORDERS[kind], style)
    column = room.column + 2
    grid.text(column, room.row, _badge(vertex), style)
    for row, (text, text_style) in enumerate(rows, room.row + 1):
        grid.text(column, row, text, text_style)
    for text, text_style in _counts(vertex):
        grid.text(column, room.row + room.height - 2, text, text_style)
        column += len(text) + 1


# --- Edges


def _edge_style(edge: DrawnEdge) -> str:
    if edge.is_error:
        return "red"
    return "magenta" if edge.kind is EdgeKind.DO_WHILE else ""


def _characters(edge: DrawnEdge, kind_of_many: EdgeKind) -> str:
    """Return the characters of half a line. Heavy characters mark list elements."""
    if edge.kind is kind_of_many:
        return LINES["heavy"]
    if edge.is_error:
        return LINES["dashed"]
    return LINES["dotted" if edge.kind is EdgeKind.STATIC else "light"]


def _draw_line(
    grid: Grid, points: tuple[Point, ...], characters: str, style: str
) -> tuple[tuple[int, int], str]:
    """Draw a line. Return its end, and the arrowhead for its direction."""
    is_down = points[0].y < points[-1].y
    places = [(int(point.x), int(point.y)) for point in points]
    # A line starts in the first row after a box, and ends in the last row before the other box.
    last = -1 if is_down else 0
    places[-1] = (places[-1][0], places[-1][1] + last)
    places[0] = (places[0][0], places[0][1] - last - 1)
    grid.line(places, characters, style, is_down=is_down)
    return places[-1], HEADS[is_down]


# --- The list


def _list(picture: Picture, width: int) -> Text:
    """Return one line for each vertex, followed by one line for each edge from this vertex."""
    lines: list[Text] = []
    outgoing: dict[int, list[DrawnEdge]] = {}
    for edge in picture.edges:
        outgoing.setdefault(edge.source, []).append(edge)
    for number, vertex in enumerate(picture.vertices):
        lines.append(Text.assemble(*_listed_vertex(picture, vertex)))
        edges = outgoing.get(number, [])
        for edge in edges:
            branch = "└─ " if edge is edges[-1] else "├─ "
            target = picture.vertices[edge.target].name
            parts = ((branch, "dim"), (edge.label, _edge_style(edge)), f" → {target}")
            lines.append(Text.assemble(*parts, (f"  {edge.port_text(width)}", "dim")))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n", no_wrap=True, overflow="ignore").join(lines)


def _listed_vertex(picture: Picture, vertex: DrawnVertex) -> Iterator[tuple[str, str]]:
    yield vertex.name, "bold"
    for count, style in _counts(vertex):
        yield f"  {count}", style
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
    yield f"  {vertex.fqn}" if vertex.is_declared else "  not in the document", "dim"
