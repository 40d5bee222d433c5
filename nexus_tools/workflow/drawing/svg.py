"""The SVG drawing of a workflow, readable in light and in dark color schemes.

The drawing has no script, no IDs and no external references, so a page can embed it several times.
A page can select a vertex by `data-vertex` and color it by the class of its phase.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice, pairwise, zip_longest

from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.drawing.layout import Area, Layout, Point, Route, Size, Spacing
from nexus_tools.workflow.drawing.picture import (
    DrawnEdge,
    DrawnVertex,
    Picture,
    VertexState,
    create_picture,
)
from nexus_tools.workflow.drawing.text import cells, truncate_end, truncate_start

PALETTE = {
    "paper": ("#ffffff", "#0d1117"),
    "rim": ("#d0d7de", "#30363d"),
    "text": ("#1f2328", "#e6edf3"),
    "note": ("#57606a", "#9198a1"),
    "box": ("#f6f8fa", "#161b22"),
    "line": ("#57606a", "#8b949e"),
    "block": ("#8250df", "#a371f7"),
    "chain": ("#0969da", "#58a6ff"),
    "chain-box": ("#ddf4ff", "#0c2d6b"),
    "good": ("#1a7f37", "#3fb950"),
    "good-box": ("#dafbe1", "#0f2d19"),
    "bad": ("#cf222e", "#f85149"),
    "bad-box": ("#ffebe9", "#3c1418"),
    "busy": ("#9a6700", "#d29922"),
    "busy-box": ("#fff8c5", "#3b2300"),
}
"""The light and the dark color of each color name.

A page can override them as `--workflow-…` properties.
"""

RULES = """
.workflow .paper { fill: paper; stroke: rim }
.workflow text { fill: text; font: 600 14px system-ui, sans-serif; white-space: pre }
.workflow .mono { fill: note; font: 11px ui-monospace, Menlo, Consolas, monospace }
.workflow .label { fill: text }
.workflow .badge { fill: chain; font: 600 10px system-ui, sans-serif }
.workflow .box { fill: box; stroke: line }
.workflow .line { fill: none; stroke: line; stroke-width: 1.5; stroke-linejoin: round }
.workflow .many { stroke-width: 5 }
.workflow .core { fill: none; stroke: paper; stroke-width: 2; stroke-linejoin: round }
.workflow .head { fill: line }
.workflow .frame { fill: block; fill-opacity: .05; stroke: block; stroke-dasharray: 2 4 }
.workflow .frame-title { fill: block; font: 600 11px system-ui, sans-serif }
.workflow .do_while .line { stroke: block; stroke-dasharray: 8 3 2 3 }
.workflow .do_while .head { fill: block }
.workflow .do_while .label, .workflow .break .label { fill: block }
.workflow .static .line { stroke-dasharray: 1.5 4; stroke-linecap: round; stroke-width: 2 }
.workflow .error .line { stroke: bad; stroke-dasharray: 6 4 }
.workflow .error .head, .workflow .error .label { fill: bad }
.workflow .chain .box { fill: chain-box; stroke: chain }
.workflow .unknown .box { fill: none; stroke: bad; stroke-dasharray: 4 3 }
.workflow .idle { opacity: .55 }
.workflow .waiting .box { stroke: busy; stroke-dasharray: 4 3; stroke-width: 2 }
.workflow .running .box { fill: busy-box; stroke: busy; stroke-width: 3 }
.workflow .settled .box { fill: good-box; stroke: good }
.workflow .failed .box { fill: bad-box; stroke: bad; stroke-width: 2 }
.workflow .count-failed { fill: bad }
.workflow .count-running, .workflow .count-waiting { fill: busy }
.workflow .count-settled { fill: good }
"""

SPACING = Spacing(layers=12, boxes=26, lines=18, lanes=8, ends=9, frame=12, header=14)
MARGIN = 20
PADDING = 12
NAME_HEIGHT, ROW_HEIGHT, LABEL_HEIGHT = 20, 16, 15
NAME_WIDTH, MONO_WIDTH = 8.6, 6.7
"""Upper bounds of the width of a character. The actual widths depend on the font."""
BADGE = "on chain"
BADGE_WIDTH = 52
MAX_NAME, MAX_ROW, MAX_PORTS = 30, 38, 30
CORNER = 7
HEAD = 7
MAX_SENTENCES = 100


def draw_svg(
    document: Document,
    states: Mapping[str, VertexState] | None = None,
    *,
    hrefs: Sequence[str] = (),
    styled: bool = True,
) -> str:
    """Return the SVG file. `states` color the vertices by the phases of their runs.

    `hrefs` are links of the vertices, in the order of the document. Without `styled`, the drawing
    needs `svg_style` in the stylesheet of its page.
    """
    picture = create_picture(document, states)
    layout = picture.layout(_vertex_size, _label_size, SPACING)
    return "\n".join(_file(picture, layout, hrefs, styled=styled)) + "\n"


def _file(picture: Picture, layout: Layout, hrefs: Sequence[str], *, styled: bool) -> Iterator[str]:
    width, height = (
        round(side) + 2 * MARGIN for side in (max(layout.size.width, 1), max(layout.size.height, 1))
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    role = "group" if hrefs else "img"  # a reader of an image does not see its links
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="workflow" {size} role="{role}">'
    says = picture.descriptions()
    yield f"<title>{escape(next(says))}</title>"
    yield f"<desc>{escape('. '.join(islice(says, MAX_SENTENCES)))}</desc>"
    if styled:
        yield f"<style>{svg_style()}</style>"
    yield (
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>'
    )
    yield f'<g transform="translate({MARGIN} {MARGIN})">'
    for block, area in zip(picture.blocks, layout.frames, strict=True):
        yield _rectangle(area, "frame", 10)
        yield _text(area.left + 8, area.top + 15, "frame-title", block.title)
    for edge, route in zip(picture.edges, layout.routes, strict=True):
        yield from _edge(picture, edge, route)
    for vertex, area, href in zip_longest(
        picture.vertices, layout.boxes, hrefs[: len(picture.vertices)]
    ):
        if href is not None:
            yield f'<a href="{escape(href)}">'
        yield from _vertex(vertex, area)
        if href is not None:
            yield "</a>"
    yield "</g>"
    yield "</svg>"


def svg_style() -> str:
    """Return the style rules of drawings.

    Rules with light colors precede rules with custom properties, which newer browsers use.
    """
    plain, variable = [], []
    for rule in RULES.strip().splitlines():
        selector, _, body = rule.removesuffix(" }").partition(" { ")
        pairs = [declaration.split(": ") for declaration in body.split("; ")]
        declarations = (f"{key}: {PALETTE.get(value, (value,))[0]}" for key, value in pairs)
        plain.append(f"{selector} {{ {'; '.join(declarations)} }}")
        colors = [f"{key}: var(--workflow-{value})" for key, value in pairs if value in PALETTE]
        if colors:
            variable.append(f"{selector} {{ {'; '.join(colors)} }}")
    light, dark = (
        "; ".join(f"--workflow-{name}: {both[scheme]}" for name, both in PALETTE.items())
        for scheme in (0, 1)
    )
    return "\n".join(
        (
            *plain,
            "@supports (fill: var(--workflow-paper)) {",
            f":where(.workflow) {{ {light} }}",
            *variable,
            "}",
            f"@media (prefers-color-scheme: dark) {{ :where(.workflow) {{ {dark} }} }}",
        )
    )


# --- Vertices


def _rows(vertex: DrawnVertex) -> Iterator[str]:
    """Yield the rows below the vertex's name."""
    yield truncate_start(vertex.fqn, MAX_ROW) if vertex.is_declared else "not in the document"
    if vertex.entries:
        yield truncate_end(f"→ {', '.join(vertex.entries)}", MAX_ROW)
    for result in vertex.results:
        yield f"{truncate_end(result, MAX_ROW - 2)} →"


def _vertex_size(vertex: DrawnVertex) -> Size:
    rows = [*_rows(vertex)]
    name = cells(truncate_end(vertex.name, MAX_NAME)) * NAME_WIDTH
    widths = [name + (BADGE_WIDTH if vertex.is_on_chain else 0)]
    widths += [cells(row) * MONO_WIDTH for row in rows]
    widths.append(sum(len(f"{count}") + 3 for _, count in vertex.counts()) * MONO_WIDTH)
    height = NAME_HEIGHT + ROW_HEIGHT * (len(rows) + (vertex.state is not None)) + PADDING
    return Size(round(max(*widths, 96) + 2 * PADDING), height)


def _vertex(vertex: DrawnVertex, area: Area) -> Iterator[str]:
    classes = ["vertex"]
    classes += ["chain"] if vertex.is_on_chain else []
    classes += [] if vertex.is_declared else ["unknown"]
    classes += [vertex.phase.value if vertex.phase else "idle"] if vertex.state else []
    yield f'<g class="{" ".join(classes)}" data-vertex="{escape(vertex.name)}">'
    yield f"<title>{escape(f'{vertex.name} {vertex.fqn}'.strip())}</title>"
    yield _rectangle(area, "box", 8)
    left, y = area.left + PADDING, area.top + NAME_HEIGHT
    yield _text(left, y, "name", truncate_end(vertex.name, MAX_NAME))
    if vertex.is_on_chain:
        yield _text(area.right - PADDING, y - 1, "badge", BADGE, anchor="end")
    for row in _rows(vertex):
        y += ROW_HEIGHT
        yield _text(left, y, "mono", row)
    for phase, count in vertex.counts():
        text = f"{phase.symbol} {count}"
        yield _text(left, y + ROW_HEIGHT, f"mono count-{phase}", text)
        left += (len(text) + 1) * MONO_WIDTH
    yield "</g>"


# --- Edges


def _label_lines(edge: DrawnEdge) -> tuple[str, str]:
    return truncate_end(edge.label, MAX_ROW), edge.port_text(MAX_PORTS)


def _label_size(edge: DrawnEdge) -> Size:
    label, ports = _label_lines(edge)
    width = max(cells(label), cells(ports)) * MONO_WIDTH + 6
    return Size(round(width), 2 * LABEL_HEIGHT)


def _edge(picture: Picture, edge: DrawnEdge, route: Route) -> Iterator[str]:
    classes = f"edge {edge.kind}{' error' if edge.is_error else ''}"
    source, target = picture.vertices[edge.source].name, picture.vertices[edge.target].name
    ports = ", ".join(f"{one} → {other}" for one, other in edge.ports)
    yield f'<g class="{classes}">'
    yield f"<title>{escape(f'{source} → {target}: {edge.label} ({ports})')}</title>"
    # The half of a line that carries the list before the split is drawn as a double line.
    yield from _path(route.before, is_many=edge.kind is EdgeKind.COLLECT)
    *way, end = route.after
    neck = _before(way[-1], end)
    yield from _path((*way, neck), is_many=edge.kind is EdgeKind.FOR_EACH)
    yield _head(neck, end)
    if edge.kind is EdgeKind.BREAK:
        yield _bar(route.before)
    middle = route.label.left + route.label.width / 2
    label, ports = _label_lines(edge)
    yield _text(middle, route.label.top + 11, "mono label", label, anchor="middle")
    yield _text(middle, route.label.top + 11 + LABEL_HEIGHT, "mono", ports, anchor="middle")
    yield "</g>"


def _path(points: tuple[Point, ...], *, is_many: bool) -> Iterator[str]:
    """Yield the path of a line through the points, with round corners."""
    steps = [f"M{_number(points[0].x)} {_number(points[0].y)}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        radius = min(CORNER, _length(before, corner) / 2, _length(corner, after) / 2)
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        steps.append(f"L{_number(start.x)} {_number(start.y)}")
        steps.append(f"Q{_number(corner.x)} {_number(corner.y)} {_number(end.x)} {_number(end.y)}")
    steps.append(f"L{_number(points[-1].x)} {_number(points[-1].y)}")
    path = "".join(steps)
    yield f'<path class="line{" many" if is_many else ""}" d="{path}"/>'
    if is_many:
        yield f'<path class="core" d="{path}"/>'


def _head(neck: Point, end: Point) -> str:
    width = HEAD / 2
    across = (width, 0.0) if neck.x == end.x else (0.0, width)
    corners = (
        end,
        Point(neck.x + across[0], neck.y + across[1]),
        Point(neck.x - across[0], neck.y - across[1]),
    )
    path = " ".join(f"{_number(corner.x)} {_number(corner.y)}" for corner in corners)
    return f'<path class="head" d="M{path}z"/>'


def _bar(points: tuple[Point, ...]) -> str:
    """Return a bar across a line, which marks that it leaves the loop."""
    at = _towards(points[0], points[1], 6)
    return f'<path class="line" d="M{_number(at.x - 5)} {_number(at.y)}h10"/>'


def _before(start: Point, end: Point) -> Point:
    return _towards(end, start, HEAD)


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = _length(start, end) or 1
    part = distance / length
    return Point(start.x + (end.x - start.x) * part, start.y + (end.y - start.y) * part)


def _length(one: Point, other: Point) -> float:
    return abs(one.x - other.x) + abs(one.y - other.y)


# --- Elements


def _rectangle(area: Area, kind: str, radius: int) -> str:
    place = f'x="{_number(area.left)}" y="{_number(area.top)}"'
    size = f'width="{_number(area.width)}" height="{_number(area.height)}"'
    return f'<rect class="{kind}" {place} {size} rx="{radius}"/>'


def _text(x: float, y: float, kind: str, text: str, anchor: str = "start") -> str:
    place = f'x="{_number(x)}" y="{_number(y)}"'
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}{anchored}>{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
