"""Rules 20 to 25: the reference's rules for regions and loops, which must not nest.

In documents of the dialect, regions and loops may nest. For these documents, `structure` checks the
nesting.
"""

from collections.abc import Iterator

from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.document.violation import Violation
from nexus_tools.workflow.linter.graph import Graph, Link, output_text, vertex_text

_IN_REGION = {
    EdgeKind.FOR_EACH: (22, "has a nested for-each"),
    EdgeKind.DO_WHILE: (23, "has a do-while or break edge inside a for-each"),
    EdgeKind.BREAK: (23, "has a do-while or break edge inside a for-each"),
    EdgeKind.STATIC: (24, "has a static edge inside a for-each"),
}
_OF_BLOCKS = (EdgeKind.DO_WHILE, EdgeKind.BREAK, EdgeKind.FOR_EACH, EdgeKind.COLLECT)


def pairing(document: Document, graph: Graph) -> Iterator[Violation]:
    """Yield violations of rules 20 to 25. The graph must not have a cycle."""
    yield from _regions(document, graph)
    yield from _loops(graph)


def _regions(document: Document, graph: Graph) -> Iterator[Violation]:
    """Follow each path from the entry vertices once, in the same order as the reference.

    A vertex is visited at most twice: once on a path inside a region, and once on a path outside.
    """
    entered = dict.fromkeys(name for group in document.groups() for name in group.vertices)
    met: set[tuple[int, bool]] = set()
    for name in entered:
        place = (graph.vertices.get(name, -1), False)
        if place[0] >= 0 and place not in met:
            met.add(place)
            yield from _ways(graph, met, [(number, False) for number in graph.leaving[place[0]]])


def _ways(
    graph: Graph, met: set[tuple[int, bool]], worklist: list[tuple[int, bool]]
) -> Iterator[Violation]:
    worklist.reverse()
    while worklist:
        number, is_inside = worklist.pop()
        link = graph.links[number]
        problem = _problem(link.kind, is_inside)
        if problem:
            yield Violation(problem[0], f"'{_port(link)}' {problem[1]}", link.pointer())
        goes_inside = link.kind is EdgeKind.FOR_EACH or (
            is_inside and link.kind is not EdgeKind.COLLECT
        )
        place = (link.target, goes_inside)
        if place in met or link.kind is EdgeKind.DO_WHILE:
            continue
        met.add(place)
        leaving = graph.leaving[link.target]
        worklist += [(outgoing, goes_inside) for outgoing in reversed(leaving)]
        if goes_inside and not leaving:
            text = vertex_text(link.port.vertex)
            message = f"'{text}' has a for-each edge without a corresponding collect"
            yield Violation(20, message, link.pointer())


def _problem(kind: EdgeKind, is_inside: bool) -> tuple[int, str] | None:
    if is_inside:
        return _IN_REGION.get(kind)
    return (21, "has a collect edge without for-each") if kind is EdgeKind.COLLECT else None


def _loops(graph: Graph) -> Iterator[Violation]:
    """Yield a violation for each loop that contains an edge of another block."""
    of_blocks = [number for number, link in enumerate(graph.links) if link.kind in _OF_BLOCKS]
    for number in of_blocks:
        link = graph.links[number]
        head = graph.vertices.get(link.edge.target.vertex)
        if link.kind is not EdgeKind.DO_WHILE or head is None:
            continue
        way = graph.behind[link.source]
        if any(
            way >> other & 1 and _is_after(graph, graph.links[other], head) for other in of_blocks
        ):
            message = f"Do-while edge at '{_port(link)}' has a nested loop inside."
            yield Violation(25, message, link.pointer())


def _is_after(graph: Graph, link: Link, vertex: int) -> bool:
    return link.source == vertex or bool(graph.behind[link.source] & graph.vertex_bit(vertex))


def _port(link: Link) -> str:
    return output_text(link.edge.source)
