"""The topological order of the vertices and blocks of a document."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from nexus_tools.workflow.document.document import Document, EdgeKind, InputPort
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.document.structure import Structure, edge_pulling_into, shared_length
from nexus_tools.workflow.linter.graph import Graph, Link, input_text


class TopologicalOrder:
    """The dependencies of each vertex (by name) and of each block (by number).

    `incoming` has the ports of a vertex that have edges, and their links. A port with only
    `do_while` edges has no links, because no value arrives in the first round. `required_ports` has
    for each block the ports whose values it waits for, and their links. For a region, these are the
    ports with edges from outside. For a loop, these are the ports with `static` edges.
    `repeated_ports` has the ports with `do_while` edges, and these edges. `ends` has for each
    vertex that can end a loop the number of vertices that can end this loop. `collects` maps the
    number of an edge to the collected region. `scopes` maps the number of an edge to the outermost
    block that waits for the value.
    """

    def __init__(self, document: Document, graph: Graph, structure: Structure) -> None:
        self._graph = graph
        self.has_several_heads = any(
            block.kind is BlockKind.LOOP and len(block.heads) > 1 for block in structure.blocks
        )
        self.around = structure.enclosing
        self.declared = {
            vertex.name: f"/vertices/{at}" for at, vertex in enumerate(document.vertices)
        }
        self.entries = {
            vertex.name: [InputPort(vertex.name, port) for port in vertex.entry_ports]
            for vertex in document.vertices
        }
        self.constants: dict[str, list[InputPort]] = {name: [] for name in self.declared}
        for default in document.defaults:
            self.constants[default.target.vertex].append(default.target)
        self.incoming: dict[str, dict[InputPort, list[Link]]] = {name: {} for name in self.declared}
        self.required_ports: list[dict[InputPort, list[Link]]] = [{} for _ in structure.blocks]
        self.repeated_ports: dict[InputPort, list[Link]] = {}
        self.collects: dict[int, int] = {}
        self.scopes: dict[int, int] = {}
        self.ends: dict[str, int] = {}
        self._needed: dict[str, list[InputPort]] = {}
        self._led: dict[str, list[Link]] = {}
        self._leaves_loop: set[int] = set()
        self._rounds: dict[int, list[int]] = {}
        waits: TopologicalSorter[str | int] = TopologicalSorter()
        for name in self.declared:
            waits.add(name, *self.around[name])
        for link in graph.links:
            self._add(link, structure, waits)
        self._add_rounds(graph)
        self.order = _order(waits)

    def ports(self, vertex: str) -> list[InputPort]:
        """Return all input ports of a vertex that occur in the document."""
        return [*self.incoming[vertex], *self.entries[vertex], *self.constants[vertex]]

    def needed_by(self, vertex: str) -> list[InputPort]:
        """Return the ports of a vertex and its blocks that need a value before the vertex runs."""
        if vertex not in self._needed:
            needs = (port for block in self.around[vertex] for port in self.required_ports[block])
            self._needed[vertex] = [*self.ports(vertex), *needs]
        return self._needed[vertex]

    def links(self, vertex: str) -> list[Link]:
        """Return the edges on which the vertex or a block around it depends."""
        if vertex not in self._led:
            ports = [
                self.incoming[vertex],
                *(self.required_ports[block] for block in self.around[vertex]),
            ]
            self._led[vertex] = [
                link for by_port in ports for links in by_port.values() for link in links
            ]
        return self._led[vertex]

    def rounds(self, link: Link) -> list[int]:
        """Return the variants that start another round of the loop that the link leaves, if any.

        For example, `judge` ends in `poor` in all rounds until it ends in `good` in the last round.
        For an edge from `judge.good`, the result is the number of `judge.poor`.
        """
        return self._rounds.get(link.variant, []) if link.index in self._leaves_loop else []

    def has_path(self, vertex: str, other: str) -> bool:
        """Return whether there is a path from one vertex to another."""
        numbers = self._graph.vertices
        before = self._graph.behind[numbers[other]] if other in numbers else 0
        return vertex in numbers and bool(before & self._graph.vertex_bit(numbers[vertex]))

    def pointer(self, port: InputPort) -> str:
        """Return the JSON pointer of the first edge to a port, or else of the port's vertex."""
        links = self.incoming[port.vertex].get(port) or self.repeated_ports.get(port)
        return links[0].pointer("/to") if links else self.declared[port.vertex]

    def unreachable_vertices(
        self, ever: Mapping[str | InputPort, int]
    ) -> Iterator[tuple[str, str]]:
        """Yield the vertices that never run, with a reason.

        The function omits a vertex that does not run only because another vertex never runs.
        """
        for vertex in self.declared:
            is_stuck = vertex not in self.order
            own = [link for links in self.incoming[vertex].values() for link in links]
            links = own if is_stuck else self.links(vertex)
            if ever.get(vertex) or any(not ever.get(link.edge.source.vertex) for link in links):
                continue
            empty = next((port for port in self.needed_by(vertex) if not ever.get(port)), None)
            if is_stuck:
                why = "the values that enter its region depend on the region itself"
                yield vertex, why + self._drawn(vertex, self._awaiting(vertex))
            elif empty in self.ports(vertex):
                yield vertex, f"'{input_text(empty)}' never receives a value"
            elif empty:
                why = f"its block waits for '{input_text(empty)}', which never receives a value"
                yield vertex, why + self._drawn(vertex, [empty])
            elif links:
                drawn = self._drawn(vertex, self.needed_by(vertex))
                whose = "the ports that enter its region" if drawn else "its ports"
                yield vertex, f"{whose} never have values at the same time{drawn}"
            else:
                yield vertex, "no edge leads to it, and no entry group contains it"

    def _awaiting(self, vertex: str) -> list[InputPort]:
        """Return the required ports of a vertex's blocks whose sources wait for the vertex."""
        return [
            port
            for block in self.around[vertex]
            for port, links in self.required_ports[block].items()
            if any(link.edge.source.vertex not in self.order for link in links)
        ]

    def _drawn(self, vertex: str, ports: Collection[InputPort]) -> str:
        """Explain which edge puts a port's vertex into a region that waits for the port.

        The explanation is empty if the vertex is a head of the region.
        """
        edges = [link.edge for link in self._graph.links]
        for block in self.around[vertex]:
            for port in ports:
                by = edge_pulling_into(edges, self.around, port.vertex, block)
                if port in self.required_ports[block] and by:
                    return f"; the edge from '{by.source}' puts '{port.vertex}' into the region"
        return ""

    def _add(self, link: Link, structure: Structure, waits: TopologicalSorter[str | int]) -> None:
        source, target = link.edge.source.vertex, link.edge.target.vertex
        links = self.incoming[target].setdefault(link.edge.target, [])
        if link.kind is EdgeKind.DO_WHILE:
            self.repeated_ports.setdefault(link.edge.target, []).append(link)
            return
        links.append(link)
        waits.add(target, source)
        left = self.around[source][shared_length(self.around[source], self.around[target]) :]
        if link.kind is EdgeKind.BREAK and left:
            self._leaves_loop.add(link.index)
        origin: str | int = source
        if link.kind is EdgeKind.COLLECT:
            origin = self.collects[link.index] = left[0]
            waits.add(target, origin)
        for block in structure.waiting_blocks(link.edge):
            self.required_ports[block].setdefault(link.port, []).append(link)
            self.scopes.setdefault(link.index, block)
            waits.add(block, origin)

    def _add_rounds(self, graph: Graph) -> None:
        last = {link.source: link.variant for link in graph.links if link.kind is EdgeKind.BREAK}
        loops: dict[int, set[str]] = {}
        for link in graph.links:
            if link.kind is EdgeKind.DO_WHILE:
                self._rounds.setdefault(last.get(link.source, -1), []).append(link.variant)
                name = link.edge.source.vertex
                loops.setdefault(self.around[name][-1], set()).add(name)
        self.ends = {name: len(ends) for ends in loops.values() for name in ends}


def _order(waits: TopologicalSorter[str | int]) -> dict[str | int, None]:
    """Return all vertices and blocks that are not on a cycle and do not depend on one."""
    with suppress(CycleError):  # The sorter still returns the nodes before the cycle.
        waits.prepare()
    order: dict[str | int, None] = {}
    while ready := waits.get_ready():
        order.update(dict.fromkeys(ready))
        waits.done(*ready)
    return order
