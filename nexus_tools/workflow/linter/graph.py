"""The graph for the rules of the reference, in which bit sets represent reachability.

In the reference, vertices, variants, output ports and input ports are nodes. The edge `a.ok.sum ->
b.x` is a path from `Vertex: a` over `Output variant: a.ok` and `Output port: a.ok.sum` to `Input
port: b.x` and `Vertex: b`. An output port of the reference has one edge. So in this module, an edge
represents its output port, and a port with several edges counts as several ports. A `do_while` edge
leads to a separate vertex, `b-do-while`, so that a loop is not a cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nexus_tools.workflow.document.document import Document, Edge, EdgeKind, InputPort, OutputPort

_NEXT_ROUND = "-do-while"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of the graph. `index` is the position of the edge in the document."""

    index: int
    edge: Edge
    source: int
    variant: int
    target: int
    port: InputPort
    """The target port. For a `do_while` edge, its vertex is the vertex of the next round."""

    @property
    def kind(self) -> EdgeKind:
        """The kind of the edge."""
        return self.edge.kind

    def pointer(self, end: str = "") -> str:
        """Return the JSON pointer of the edge, extended by `end`, such as `/from` or `/to`."""
        return f"/edges/{self.index}{end}"


class Graph:
    """The numbered vertices, in the order of the reference, and edges without duplicates.

    In a bit set, bit i represents `links[i]`. `variant_bit(j)` represents variant j, and
    `vertex_bit(k)` represents vertex k.
    """

    def __init__(self, document: Document) -> None:
        self.vertices: dict[str, int] = {}
        self.variants: dict[tuple[str, str], int] = {}
        self.links: list[Link] = []
        met = set()
        for index, edge in enumerate(document.edges):
            port = reached_port(edge)
            if (edge.source, port) in met:
                continue
            met.add((edge.source, port))
            source = self.vertices.setdefault(edge.source.vertex, len(self.vertices))
            variant = (edge.source.vertex, edge.source.variant)
            self.links.append(
                Link(
                    index=index,
                    edge=edge,
                    source=source,
                    variant=self.variants.setdefault(variant, len(self.variants)),
                    target=self.vertices.setdefault(port.vertex, len(self.vertices)),
                    port=port,
                )
            )
        if not document.edges and len(document.vertices) == 1:
            self.vertices[document.vertices[0].name] = 0

    @cached_property
    def ports(self) -> dict[InputPort, list[int]]:
        """The numbers of the links to each input port that has edges."""
        ports: dict[InputPort, list[int]] = {}
        for number, link in enumerate(self.links):
            ports.setdefault(link.port, []).append(number)
        return ports

    @cached_property
    def leaving(self) -> list[list[int]]:
        """The numbers of the links from each vertex, in the order of its variants."""
        leaving: list[list[int]] = [[] for _ in self.vertices]
        for number, link in enumerate(self.links):
            leaving[link.source].append(number)
        for numbers in leaving:
            numbers.sort(key=lambda number: self.links[number].variant)
        return leaving

    @cached_property
    def order(self) -> list[int]:
        """The vertices in topological order. Vertices on or after a cycle are left out."""
        waits_for = [0] * len(self.vertices)
        for link in self.links:
            waits_for[link.target] += 1
        order = [vertex for vertex, links in enumerate(waits_for) if not links]
        for vertex in order:
            for number in self.leaving[vertex]:
                target = self.links[number].target
                waits_for[target] -= 1
                if not waits_for[target]:
                    order.append(target)
        return order

    def cycle(self) -> list[Link]:
        """Return the links of one cycle, or an empty list."""
        ordered = set(self.order)
        into = {link.target: link for link in self.links if link.source not in ordered}
        stuck = [link for link in self.links if link.target not in ordered]
        if not stuck:
            return []
        # Each remaining vertex has a remaining predecessor. So a walk along predecessors reaches
        # some vertex twice.
        way: dict[int, Link] = {}
        vertex = stuck[0].target
        while vertex not in way:
            way[vertex] = into[vertex]
            vertex = way[vertex].source
        return list(way.values())[list(way).index(vertex) :]

    def vertex_bit(self, vertex: int) -> int:
        """Return the bit of a vertex."""
        return 1 << (len(self.links) + len(self.variants) + vertex)

    def variant_bit(self, variant: int) -> int:
        """Return the bit of a variant."""
        return 1 << (len(self.links) + variant)

    def bits(self, numbers: Sequence[int]) -> int:
        """Return the bit set of these links, of their variants, and of their source vertices."""
        together = 0
        for number in numbers:
            link = self.links[number]
            together |= 1 << number | self.variant_bit(link.variant) | self.vertex_bit(link.source)
        return together

    @cached_property
    def behind(self) -> list[int]:
        """For each vertex, the bit set of all nodes that lead to it.

        The graph must not have a cycle. In a graph without cycles, a node is on a path from `a` to
        `b` if it is reachable from `a` and leads to `b`. The reference instead lists all paths, of
        which there may be 2^n.
        """
        behind = [0] * len(self.vertices)
        for vertex in self.order:
            for number in self.leaving[vertex]:
                link = self.links[number]
                behind[link.target] |= behind[vertex] | self.bits([number])
        return behind

    def ahead(self, vertices: Sequence[int]) -> int:
        """Return the bit set of these vertices and all nodes that are reachable from them."""
        met = set(vertices)
        ahead = 0
        worklist = list(met)
        while worklist:
            vertex = worklist.pop()
            ahead |= self.vertex_bit(vertex) | self.bits(self.leaving[vertex])
            fresh = {self.links[number].target for number in self.leaving[vertex]} - met
            met |= fresh
            worklist += fresh
        return ahead


def reached_port(edge: Edge) -> InputPort:
    """Return the target port of an edge.

    For a `do_while` edge, the vertex is the separate vertex of the next round.
    """
    if edge.kind is EdgeKind.DO_WHILE:
        return InputPort(edge.target.vertex + _NEXT_ROUND, edge.target.port)
    return edge.target


def vertex_text(vertex: str) -> str:
    """Return the name of a vertex in messages."""
    return f"Vertex: {vertex}"


def variant_text(port: OutputPort) -> str:
    """Return the name of a port's variant in messages."""
    return f"Output variant: {port.vertex}.{port.variant}"


def output_text(port: OutputPort) -> str:
    """Return the name of an output port in messages."""
    return f"Output port: {port}"


def input_text(port: InputPort) -> str:
    """Return the name of an input port in messages."""
    return f"Input port: {port}"
