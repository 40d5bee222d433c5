"""The Mermaid drawing of a workflow, which is laid out by the Markdown renderer."""

import re
from collections.abc import Iterator, Mapping

from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.drawing.picture import (
    DrawnEdge,
    DrawnVertex,
    Picture,
    VertexState,
    create_picture,
)

CLASSES = {
    "chain": "fill:#ddf4ff,stroke:#0969da,color:#1f2328",
    "unknown": "stroke:#cf222e,stroke-dasharray:4 3",
    "waiting": "stroke:#9a6700,stroke-width:2px,stroke-dasharray:4 3",
    "running": "fill:#fff8c5,stroke:#9a6700,stroke-width:3px,color:#1f2328",
    "settled": "fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
    "failed": "fill:#ffebe9,stroke:#cf222e,stroke-width:2px,color:#1f2328",
}
ERROR = "stroke:#cf222e,stroke-dasharray:6 4"
ARROWS = {EdgeKind.FOR_EACH: "==>", EdgeKind.COLLECT: "==>", EdgeKind.STATIC: "-.->"}
MAX_PORTS = 40


def draw_mermaid(document: Document, states: Mapping[str, VertexState] | None = None) -> str:
    """Return the text of a `flowchart`. `states` color the vertices by the phases of their runs.

    Mermaid draws at most 500 edges, unless the host page configures a higher limit.
    """
    picture = create_picture(document, states)
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    yield "flowchart TD"
    yield from _block(picture, None, "  ")
    for edge in picture.edges:
        arrow = ARROWS.get(edge.kind, "-->")
        yield f'  v{edge.source} {arrow}|"{_edge_text(edge)}"| v{edge.target}'
    for name, style in CLASSES.items():
        members = [
            f"v{number}" for number, vertex in enumerate(picture.vertices) if _is(vertex, name)
        ]
        if members:
            yield f"  classDef {name} {style}"
            yield f"  class {','.join(members)} {name}"
    errors = [f"{number}" for number, edge in enumerate(picture.edges) if edge.is_error]
    if errors:
        yield f"  linkStyle {','.join(errors)} {ERROR}"


def _block(picture: Picture, number: int | None, indent: str) -> Iterator[str]:
    """Yield the vertices of a block and its inner blocks. A `number` of None is the workflow."""
    for inner, block in enumerate(picture.blocks):
        if block.parent == number:
            yield f'{indent}subgraph b{inner} ["{_escaped(block.title)}"]'
            yield from _block(picture, inner, f"{indent}  ")
            yield f"{indent}end"
    for vertex_number, vertex in enumerate(picture.vertices):
        if vertex.block == number:
            left, right = ("[[", "]]") if vertex.is_on_chain else ("[", "]")
            yield f'{indent}v{vertex_number}{left}"{_vertex_text(vertex)}"{right}'


def _vertex_text(vertex: DrawnVertex) -> str:
    rows = [vertex.name, vertex.fqn if vertex.is_declared else "not in the document"]
    rows += ["on chain"] if vertex.is_on_chain else []
    rows += [f"→ {', '.join(vertex.entries)}"] if vertex.entries else []
    rows += [f"{result} →" for result in vertex.results]
    rows += [" ".join(f"{phase.symbol} {count}" for phase, count in vertex.counts())]
    return "<br/>".join(_escaped(row) for row in rows if row)


def _edge_text(edge: DrawnEdge) -> str:
    return f"{_escaped(edge.label)}<br/>{_escaped(edge.port_text(MAX_PORTS))}"


def _is(vertex: DrawnVertex, name: str) -> bool:
    """Return whether a class applies to a vertex.

    A vertex with a phase has only its phase class.
    """
    if vertex.phase:
        return vertex.phase == name
    return {"chain": vertex.is_on_chain, "unknown": not vertex.is_declared}.get(name, False)


def _escaped(text: str) -> str:
    """Return the text with each markup character replaced by a numeric character reference."""
    return re.sub(r"[!-'*+;-?\[-^`{-~]", lambda found: f"#{ord(found[0])};", text)
