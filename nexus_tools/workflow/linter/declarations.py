"""Rules 1 to 13: consistency of vertices, edges, ports, defaults and outputs.

The messages and the order of the rules are those of the reference. The reference stops at the first
violation.
"""

from collections.abc import Iterator

from nexus_tools.workflow.document.document import Document, EdgeKind, InputPort
from nexus_tools.workflow.document.violation import Violation
from nexus_tools.workflow.linter.graph import (
    Graph,
    input_text,
    output_text,
    reached_port,
    variant_text,
    vertex_text,
)


def declarations(document: Document, graph: Graph) -> Iterator[Violation]:
    """Yield violations of rules 1 to 13."""
    yield from _groups(document)
    yield from _edges(document)
    yield from _vertices(document, graph)
    yield from _entry_ports(document, graph)
    yield from _defaults(document, graph)
    if not document.has_dialect:
        yield from _outputs(document)
    yield from _loop_ends(document)


def _groups(document: Document) -> Iterator[Violation]:
    declared = {vertex.name for vertex in document.vertices}
    for at, group in enumerate(document.entry_groups):
        for member, name in enumerate(group.vertices):
            if name not in declared:
                yield Violation(
                    1,
                    f"Entry group '{group.name}' references a non-existing vertex '{name}'.",
                    f"/entry_groups/{at}/vertices/{member}",
                )
    if not any(group.vertices for group in document.groups()):
        where = "/entry_groups" if document.entry_groups else "/vertices"
        yield Violation(2, "The DAG has no entry vertices or ports.", where)


def _edges(document: Document) -> Iterator[Violation]:
    sources = set()
    ways = set()
    for at, edge in enumerate(document.edges):
        way = (edge.source, reached_port(edge))
        port = output_text(edge.source)
        if not document.has_dialect and edge.source in sources:
            message = f"Edge from '{variant_text(edge.source)}' to '{port}' already exists."
            yield Violation(3, message, f"/edges/{at}")
        elif way in ways:
            message = f"Edge from '{port}' to '{input_text(way[1])}' already exists."
            yield Violation(4, message, f"/edges/{at}")
        sources.add(edge.source)
        ways.add(way)


def _vertices(document: Document, graph: Graph) -> Iterator[Violation]:
    met = set()
    for at, vertex in enumerate(document.vertices):
        text = vertex_text(vertex.name)
        if not document.has_dialect and vertex.name not in graph.vertices:
            yield Violation(5, f"'{text}' is not connected to the DAG.", f"/vertices/{at}")
        if vertex.name in met:
            yield Violation(6, f"'{text}' is defined multiple times.", f"/vertices/{at}")
        met.add(vertex.name)


def _entry_ports(document: Document, graph: Graph) -> Iterator[Violation]:
    met = set()
    for at, vertex in enumerate(document.vertices):
        for index, name in enumerate(vertex.entry_ports):
            port = InputPort(vertex.name, name)
            pointer = f"/vertices/{at}/entry_ports/{index}"
            if port in graph.ports:
                yield Violation(
                    7,
                    f"'{input_text(port)}' has an edge leading to it and therefore cannot be an "
                    "entry port.",
                    pointer,
                )
            if port in met:
                yield Violation(8, f"'{input_text(port)}' is defined multiple times.", pointer)
            met.add(port)


def _defaults(document: Document, graph: Graph) -> Iterator[Violation]:
    entries = {
        InputPort(vertex.name, name) for vertex in document.vertices for name in vertex.entry_ports
    }
    for at, default in enumerate(document.defaults):
        if default.target in graph.ports or default.target in entries:
            yield Violation(
                9,
                f"'{input_text(default.target)}' is an entry port or has an edge leading into it "
                "and therefore cannot have a default value.",
                f"/default_values/{at}",
            )


def _outputs(document: Document) -> Iterator[Violation]:
    with_edges = {edge.source.vertex for edge in document.edges}
    marked: dict[str, int] = {}
    for at, output in enumerate(document.outputs):
        marked.setdefault(output.source.vertex, at)
    for name in dict.fromkeys(vertex.name for vertex in document.vertices):
        if name in marked and name in with_edges:
            yield Violation(
                10,
                f"'{vertex_text(name)}' cannot have both outgoing edges and ports marked as "
                "output.",
                f"/outputs/{marked[name]}",
            )


def _loop_ends(document: Document) -> Iterator[Violation]:
    again, out = (_leaving(document, kind) for kind in (EdgeKind.DO_WHILE, EdgeKind.BREAK))
    # In the dialect, a loop may also end in a variant with an output of the workflow.
    results = [output.source for output in document.outputs if document.has_dialect]
    ending = {(port.vertex, port.variant) for port in results} - again.keys()
    for one, others, rule, has, lacks in (
        (again, out.keys() | ending, 11, "do-while", "break"),
        (out, again.keys(), 12, "break", "do-while"),
    ):
        ends = {vertex for vertex, _ in others}
        for vertex, at in {vertex: at for (vertex, _), at in reversed(one.items())}.items():
            if vertex not in ends:
                yield Violation(
                    rule,
                    f"Vertex '{vertex}' has a {has} edge but no corresponding {lacks} edge.",
                    f"/edges/{at}",
                )
    for variant in again.keys() & out.keys():
        port = document.edges[out[variant]].source
        yield Violation(
            13,
            f"'{variant_text(port)}' has both a do-while and a break edge, but they must branch.",
            f"/edges/{out[variant]}",
        )


def _leaving(document: Document, kind: EdgeKind) -> dict[tuple[str, str], int]:
    """Return the first edge of a kind by vertex and variant, for variants that have one."""
    leaving: dict[tuple[str, str], int] = {}
    for at, edge in enumerate(document.edges):
        if edge.kind is kind:
            leaving.setdefault((edge.source.vertex, edge.source.variant), at)
    return leaving
